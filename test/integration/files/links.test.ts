/** The command line writes only in the named folder (S1c): real links, and a race. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeInside } from '../../../src/core/files/realFiles.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { configText, rawWith } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';
import { posixIt } from '../../support/notHere.js';

const own = 'version: 1\nservers: {}\n';
const whileOthersWork = posixIt('A folder with an open file cannot be renamed there.');

describe('links in a workspace (S1c)', () => {
  let cli: CommandLine;
  const ofHome = (...names: string[]): string => path.join(outside, ...names);
  let outside: string;

  beforeEach(async () => {
    cli = await CommandLine.open();
    // Beside the workspace, like a home folder.
    outside = realpathSync(mkdtempSync(path.join(tmpdir(), 'links-home-')));
    cli.useHome(outside);
    mkdirSync(ofHome('.minds'));
    writeFileSync(ofHome('.minds', 'mcp.yaml'), own);
  });

  afterEach(async () => {
    await cli.close();
    rmSync(outside, { recursive: true });
  });

  const link = (target: string, at: string): void => {
    rmSync(path.join(cli.folder, at.split('/')[0] ?? at), { recursive: true, force: true });
    mkdirSync(path.dirname(path.join(cli.folder, at)), { recursive: true });
    symlinkSync(target, path.join(cli.folder, at));
  };
  const everything = (): string[] => readdirSync(outside, { recursive: true }).map(String).sort();

  const whereReadable = posixIt('Wine tells no program where a link leads whose target is missing');
  for (const [what, test, target, at] of [
    ['a folder that is a link', it, '.minds', '.minds'],
    ['a file that is a link', it, '.minds/mcp.yaml', '.minds/mcp.yaml'],
    ['a link to what is not there yet', whereReadable, '.minds/new.yaml', '.minds/mcp.yaml'],
  ] as const) {
    test(`\`import --write\` does not write through ${what}`, async () => {
      const source = path.join(cli.folder, 'claude.json');
      writeFileSync(source, JSON.stringify({ mcpServers: { evil: { command: 'evil' } } }));
      link(ofHome(target), at);
      const before = everything();
      const { code, stderr } = await cli.run(
        'import',
        source,
        '--format',
        'claude-code',
        '--write',
      );
      assert.equal(code, 1, stderr);
      assert.match(stderr, /outside/);
      assert.deepEqual(
        [everything(), readFileSync(ofHome('.minds', 'mcp.yaml'), 'utf8')],
        [before, own],
      );
    });
  }

  it('`entries --write` does not write through them, into no agent’s file', async () => {
    cli.save({ a: rawWith(['echo']) });
    for (const [agent, at] of [
      ['claude-code', '.mcp.json'],
      ['codex', '.codex'],
      ['copilot-cli', '.github'],
      ['opencode', 'opencode.json'],
      ['gemini-cli', '.gemini'],
      ['qwen-code', '.qwen'],
      ['cursor', '.cursor'],
    ] as const) {
      const target = ofHome(`of-${agent}`);
      if (at.endsWith('.json')) writeFileSync(target, '{}');
      else mkdirSync(target);
      link(target, at);
      const before = everything();
      const { code, stderr } = await cli.run('entries', agent, '--write');
      assert.deepEqual([code, /outside/.test(stderr)], [1, true], stderr);
      assert.deepEqual(everything(), before);
      if (at.endsWith('.json')) assert.equal(readFileSync(target, 'utf8'), '{}');
    }
  });

  const hasPipes = posixIt('It has no devices and no pipes of that kind.');
  for (const what of ['a device without an end', 'a pipe that nobody writes to'] as const) {
    hasPipes(
      `${what} in the place of a file is read by no command, and written by none`,
      async () => {
        cli.save({ a: rawWith(['echo']) });
        const good = readFileSync(path.join(cli.folder, '.minds', 'mcp.yaml'), 'utf8');
        const pipe = ofHome('pipe');
        if (what !== 'a device without an end') execFileSync('mkfifo', [pipe]);
        const target = what === 'a device without an end' ? '/dev/zero' : pipe;
        const source = path.join(cli.folder, 'claude.json');
        writeFileSync(source, JSON.stringify({ mcpServers: { evil: { command: 'evil' } } }));
        link(target, '.mcp.json');
        const entries = await cli.run('entries', 'claude-code', '--write');
        assert.deepEqual(
          [entries.code, /regular file|outside/.test(entries.stderr)],
          [1, true],
          entries.stderr,
        );
        const imported = await cli.run('import', path.join(cli.folder, '.mcp.json'), '--write');
        assert.deepEqual(
          [imported.code, /regular file/.test(imported.stderr)],
          [1, true],
          imported.stderr,
        );
        assert.equal(readFileSync(path.join(cli.folder, '.minds', 'mcp.yaml'), 'utf8'), good);
        link(target, '.minds/mcp.yaml');
        const into = await cli.run('import', source, '--format', 'claude-code', '--write');
        assert.deepEqual(
          [into.code, /regular file|outside/.test(into.stderr)],
          [1, true],
          into.stderr,
        );
        const checked = await cli.run('check');
        assert.equal(checked.code, 1);
        assert.match(checked.stdout, /file-unreadable/);
        assert.ok(lstatSync(path.join(cli.folder, '.minds', 'mcp.yaml')).isSymbolicLink());
      },
    );
  }

  it('REST adds no server through them, and what it would have added never runs', async () => {
    writeFileSync(ofHome('.minds', 'mcp.yaml'), configText({ mine: rawWith(['echo']) }));
    const before = readFileSync(ofHome('.minds', 'mcp.yaml'), 'utf8');
    link(ofHome('.minds'), '.minds');
    const serving = await Serving.begin(cli, ['mine', 'mcp_admin']);
    try {
      const response = await fetch(`${serving.base}/api/v1/users/mcp/upstreams`, {
        method: 'POST',
        headers: { authorization: `Bearer ${serving.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ id: 'evil', transport: 'stdio', command: 'evil' }),
      });
      assert.equal(response.status, 409);
      assert.match(await response.text(), /outside/);
    } finally {
      await serving.end();
    }
    assert.equal(readFileSync(ofHome('.minds', 'mcp.yaml'), 'utf8'), before);
  });

  it('in the other direction, the user’s file that leads into the workspace is the workspace’s', async () => {
    rmSync(ofHome('.minds'), { recursive: true });
    cli.save({ a: rawWith(['echo']) });
    symlinkSync(path.join(cli.folder, '.minds'), ofHome('.minds'));
    const { stdout } = await cli.run('status', '--json');
    const { servers } = JSON.parse(stdout) as { servers: { id: string; origin: string }[] };
    assert.deepEqual(
      servers.map(({ id, origin }) => [id, origin]),
      [['a', 'folder']],
    );
  });

  whileOthersWork(
    'a link that is put in the way during the write changes nothing outside',
    async () => {
      const theirs = ofHome('.minds', 'mcp.yaml');
      const at = path.join(cli.folder, '.minds');
      writeFileSync(path.join(at, 'mcp.yaml'), own);
      const flip = spawn(process.execPath, ['-e', flipping, at, ofHome('.minds')], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const ended = once(flip, 'close');
      try {
        await once(flip.stdout, 'data');
        const outcomes = new Set<string>();
        for (let round = 0; round < 20_000 && !(outcomes.size > 1 && round >= 1_000); round++) {
          try {
            const file = path.join(at, round % 2 === 0 ? 'mcp.yaml' : 'new.yaml');
            const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
            writeInside(cli.folder, file, { before, after: 'version: 1 # ours\n' });
            outcomes.add('written');
          } catch {
            outcomes.add('refused');
          }
          assert.equal(readFileSync(theirs, 'utf8'), own, `round ${round}`);
          if (existsSync(ofHome('.minds', 'new.yaml'))) {
            assert.equal(readFileSync(ofHome('.minds', 'new.yaml'), 'utf8'), '', `round ${round}`);
          }
        }
        assert.deepEqual([...outcomes].sort(), ['refused', 'written'], 'the race was run');
      } finally {
        flip.stdin.end();
        await ended;
      }
    },
  );
});

/** Puts a link in the place of the folder and the folder back, until its input ends. */
const flipping = `
  const { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
  const [at, target] = process.argv.slice(1);
  let going = true;
  process.stdin.on('end', () => (going = false)).resume();
  console.log('going');
  // The writer makes the folder if it does not exist, and its file, at any moment.
  const mend = () => {
    for (;;) {
      try {
        rmSync(at, { recursive: true, force: true });
        if (existsSync(at + '-real')) renameSync(at + '-real', at);
        else mkdirSync(at);
        return;
      } catch {}
    }
  };
  const turn = () => {
    for (let i = 0; i < 50; i++) {
      try {
        renameSync(at, at + '-real');
        symlinkSync(target, at);
        unlinkSync(at);
        renameSync(at + '-real', at);
      } catch {
        mend();
      }
    }
    if (going) setImmediate(turn);
  };
  turn();
`;
