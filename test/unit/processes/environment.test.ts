import assert from 'node:assert/strict';
import { delimiter, join, resolve } from 'node:path';
import { overlaid, withoutNpm } from '../../../src/core/processes/environment.js';

describe('the environment of a server (C2)', () => {
  const isWindows = process.platform === 'win32';

  it('variables of the server replace variables of the host', () => {
    assert.deepEqual(overlaid({ A: '1', B: '2' }, [['B', '3']]), { A: '1', B: '3' });
    assert.deepEqual(
      overlaid({ Path: '1' }, [['PATH', '2']]),
      isWindows ? { PATH: '2' } : { Path: '1', PATH: '2' },
    );
  });

  // Two of these names are the same variable on Windows, and the last one in the object counts.
  it('an environment is the same in any order of the variables, because nobody approved the order (S1)', () => {
    const own = [
      ['PATH', 'a'],
      ['Path', 'b'],
      ['OTHER', 'c'],
    ] as const;
    assert.equal(JSON.stringify(overlaid({}, own.toReversed())), JSON.stringify(overlaid({}, own)));
  });
});

describe('the environment without npm (X1b)', () => {
  const repository = resolve('/repo');
  const path = (...entries: string[]): string => entries.join(delimiter);
  const bin = (...folder: string[]): string => join(repository, ...folder, 'node_modules', '.bin');
  const gyp = resolve('/usr/lib/node_modules/npm/node_modules/@npmcli/run-script/lib/node-gyp-bin');
  const system = resolve('/usr/bin');
  const person = { HOME: '/home/ada', NODE_OPTIONS: '--use-openssl-ca', LANG: 'C' };
  /**
   * As npm 11 sets them for `npx` in a repository with `node-options` and `editor` in its `.npmrc`.
   */
  const ofNpm = {
    npm_config_registry: 'http://evil/',
    npm_config_user_agent: 'npm/11',
    npm_config_node_options: '--require=/repo/x.cjs',
    npm_config_editor: '/repo/x.sh',
    npm_execpath: '/usr/lib/node_modules/npm/bin/npx-cli.js',
    npm_node_execpath: '/usr/bin/node',
    npm_lifecycle_event: 'npx',
    npm_command: 'exec',
    npm_package_name: 'repo',
    INIT_CWD: '/repo',
    COLOR: '0',
    NODE: '/usr/bin/node',
    NODE_OPTIONS: '--require=/repo/x.cjs',
    EDITOR: '/repo/x.sh',
  };

  it('what `npx` and `npm run` add goes, and the rest stays', () => {
    const PATH = path(bin('packages', 'a'), bin(), gyp, system);
    assert.deepEqual(withoutNpm({ HOME: '/home/ada', LANG: 'C', ...ofNpm, PATH }), {
      HOME: '/home/ada',
      LANG: 'C',
      PATH: system,
    });
  });

  it('without npm, everything is the person’s', () => {
    const { npm_config_registry, EDITOR, NODE, INIT_CWD } = ofNpm;
    const env = {
      ...person,
      npm_config_registry,
      EDITOR,
      NODE,
      INIT_CWD,
      PATH: path(bin(), system),
    };
    assert.deepEqual(withoutNpm(env), env);
  });

  it('under npm, folders and options that the person set stay if they can be told apart', () => {
    const PATH = path(bin(), gyp, bin('a'), gyp, system, bin('mine'));
    const kept = withoutNpm({
      ...ofNpm,
      PATH,
      EDITOR: 'vim',
      NODE_OPTIONS: `--inspect ${ofNpm.NODE_OPTIONS}`,
    });
    assert.deepEqual(kept, {
      EDITOR: 'vim',
      NODE_OPTIONS: '--inspect',
      PATH: path(system, bin('mine')),
    });
    const others = { ...ofNpm, npm_config_node_options: undefined, NODE_OPTIONS: '--inspect' };
    assert.equal(withoutNpm(others)['NODE_OPTIONS'], '--inspect');
  });

  it('a folder that the person has in PATH too stays, in the place of the person', () => {
    const kept = withoutNpm({ ...ofNpm, PATH: path(bin(), gyp, bin(), system) });
    assert.equal(kept['PATH'], path(bin(), system));
  });

  it('without the folder that npm puts last, every folder of commands of packages goes', () => {
    assert.equal(withoutNpm({ ...ofNpm, PATH: path(bin(), system, bin('a')) })['PATH'], system);
  });

  it('a person’s variable in capitals stays, except on Windows', () => {
    const kept = withoutNpm({ ...ofNpm, NPM_CONFIG_REGISTRY: 'https://mine/' });
    assert.equal(
      kept['NPM_CONFIG_REGISTRY'],
      process.platform === 'win32' ? undefined : 'https://mine/',
    );
  });
});
