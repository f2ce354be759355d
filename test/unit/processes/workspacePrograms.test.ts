/** Programs of a launch that lie in the workspace (S1n). Files and links are real. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  outsideOf,
  programFinder,
  programsWithin,
  workspaceRoots,
} from '../../../src/core/processes/workspacePrograms.js';
import { suiteNotHere } from '../../support/notHere.js';

describe('programs in the workspace (S1n)', function () {
  suiteNotHere(this, process.platform === 'win32', 'programs have no mode on Windows');
  let top: string;
  let repository: string;
  const at = (...names: string[]): string => path.join(top, ...names);

  beforeEach(() => {
    top = realpathSync(mkdtempSync(path.join(tmpdir(), 'programs-')));
    repository = at('repo');
    for (const folder of ['repo/.git', 'repo/sub', 'repo/node_modules/.bin', 'home', 'bin'])
      mkdirSync(at(folder), { recursive: true });
  });

  afterEach(() => rmSync(top, { recursive: true }));

  function program(file: string, text = '#!/bin/sh\n'): string {
    writeFileSync(at(file), text);
    chmodSync(at(file), 0o755);
    return at(file);
  }

  const roots = (folder = at('repo/sub'), home = at('home')): string[] =>
    workspaceRoots([{ folder }], home);
  const found = (command: string, ...entries: string[]): string[] =>
    programsWithin(
      roots(),
      { command, cwd: at('repo/sub'), env: new Map() },
      { PATH: entries.join(':') },
    );

  it('the roots are the outermost repositories of the folders', () => {
    mkdirSync(at('repo/sub/.git'));
    assert.deepEqual(roots(), [repository]);
    assert.deepEqual(roots(at('bin')), [at('bin')]);
    assert.deepEqual(workspaceRoots([{ folder: at('home'), origin: 'user' }], at('home')), []);
  });

  it('a root is never the home folder or one above it', () => {
    assert.deepEqual(roots(at('home'), at('home')), []);
    assert.deepEqual(roots(at('.'), at('home')), []);
    mkdirSync(at('home/.git'));
    mkdirSync(at('home/project'));
    assert.deepEqual(roots(at('home/project'), at('home')), [at('home/project')]);
    symlinkSync(at('home'), at('link'));
    assert.deepEqual(roots(at('home/project'), at('link')), [at('home/project')]);
  });

  it('an empty home is no home', () => {
    assert.deepEqual(roots(at('repo/sub'), ''), [repository]);
  });

  it('a program outside has no path, whatever lies behind it in PATH', () => {
    program('bin/tool');
    program('repo/node_modules/.bin/tool');
    assert.deepEqual(found('tool', at('bin'), at('repo/node_modules/.bin')), []);
    assert.deepEqual(found(at('bin/tool')), []);
    assert.deepEqual(found('missing', at('bin')), []);
  });

  it('a program found in the repository has its path', () => {
    program('repo/node_modules/.bin/tool');
    assert.deepEqual(found('tool', at('repo/node_modules/.bin'), at('bin')), [
      at('repo/node_modules/.bin/tool'),
    ]);
  });

  it('links into the repository are followed: of the program, and of a folder of PATH', () => {
    const tool = program('repo/tool');
    symlinkSync(tool, at('bin/tool'));
    assert.deepEqual(found('tool', at('bin')), [at('bin/tool'), tool]);
    symlinkSync(repository, at('linked'));
    assert.deepEqual(found('tool', at('linked')), [tool]);
    assert.deepEqual(found(at('bin/tool')), [tool]);
  });

  it('a link in the repository has the path of its target, also outside', () => {
    const python = program('bin/python3');
    symlinkSync(python, at('repo/node_modules/.bin/python'));
    assert.deepEqual(found('python', at('repo/node_modules/.bin')), [
      at('repo/node_modules/.bin/python'),
      python,
    ]);
  });

  it('a named program in the repository has the paths that its command does not show', () => {
    const tool = program('repo/sub/tool');
    assert.deepEqual(found('./tool'), [tool]);
    assert.deepEqual(found(tool), []);
    symlinkSync(tool, at('repo/other'));
    assert.deepEqual(found(at('repo/other')), [tool]);
    assert.deepEqual(found('../other'), [at('repo/other'), tool]);
  });

  it('an interpreter that `env` finds in the repository counts, by a relative entry of PATH too', () => {
    const node = program('repo/node_modules/.bin/node');
    program('bin/tool', '#!/usr/bin/env -S node --no-warnings\n');
    assert.deepEqual(found('tool', at('repo/node_modules/.bin'), at('bin')), [node]);
    assert.deepEqual(found('tool', '../node_modules/.bin', at('bin')), [node]);
    assert.deepEqual(found('tool', at('bin'), '/usr/bin', '/bin'), []);
    program('bin/direct', `#!${node}\n`);
    assert.deepEqual(found('direct', at('bin')), [node]);
  });

  it('outside of the workspace, no entry of PATH leads into it, and none is relative', () => {
    symlinkSync(repository, at('linked'));
    const PATH = [at('repo/node_modules/.bin'), at('linked'), './bin', '', at('bin')].join(':');
    assert.deepEqual(outsideOf(roots(), { PATH, A: '1' }), { A: '1', PATH: at('bin') });
    assert.deepEqual(outsideOf([], { PATH }), { PATH });
  });

  it('a finder uses the PATH of the launch', () => {
    const tool = program('repo/node_modules/.bin/tool');
    const find = programFinder(roots(), { PATH: at('bin') });
    const launch = { command: 'tool', cwd: repository };
    assert.deepEqual(find({ ...launch, env: new Map() }), []);
    assert.deepEqual(find({ ...launch, env: new Map([['PATH', { value: path.dirname(tool) }]]) }), [
      tool,
    ]);
    const named = {
      ...launch,
      command: '../repo/node_modules/.bin/tool',
      env: new Map(),
      isPersons: true,
    } as const;
    assert.deepEqual(
      find({ ...named, command: 'tool', env: new Map([['PATH', { value: path.dirname(tool) }]]) }),
      [],
    );
    assert.deepEqual(find(named), [tool], 'a person may name it');
    const envFile = { values: new Map([['PATH', path.dirname(tool)]]) };
    assert.deepEqual(find({ ...launch, env: new Map(), envFile }), [tool]);
  });
});
