/**
 * Local code that npm runs in place of a pinned package of the registry (S1p). npm itself says what
 * runs, and each of these folders must be seen.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { literal } from '../../../src/core/config/model.js';
import { realPath } from '../../../src/core/base/paths.js';
import { decidingFiles } from '../../../src/core/packages/decidingFiles.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { NpmRegistry } from '../../support/core/npmRegistry.js';
import { work } from '../../support/core/within.js';
import { suiteNotHere } from '../../support/notHere.js';

/** The text of each file, or its value as JSON. */
type Files = Readonly<Record<string, string | object>>;

const program = '#!/bin/sh\necho local\n';
const evil = { 'node_modules/.bin/evil': program };
const x = { name: 'x', version: '1.0.0', bin: { evil: 'evil.js' } };
const lock = (packages: object): object => ({ lockfileVersion: 3, requires: true, packages });

const folders: Readonly<Record<string, Files>> = {
  'a package': { ...evil, 'node_modules/x/package.json': x },
  'a nested package': { ...evil, 'node_modules/a/node_modules/x/package.json': x },
  'a package under another name': { ...evil, 'node_modules/@a/y/package.json': x },
  'an escaped name': {
    ...evil,
    'node_modules/y/package.json': JSON.stringify(x).replace('"x"', '"\\u0078"'),
  },
  'a package behind a link': {
    ...evil,
    'packages/x/package.json': x,
    'node_modules/y': '-> ../packages/x',
  },
  'a package beside a linked one': {
    ...evil,
    'node_modules/z': '-> .store/z/node_modules/z',
    'node_modules/.store/z/node_modules/z/package.json': {
      name: 'z',
      version: '1.0.0',
      dependencies: { x: '1.0.0' },
    },
    'node_modules/.store/z/node_modules/x/package.json': x,
  },
  'a workspace': {
    ...evil,
    'package.json': { workspaces: ['packages/*'] },
    'packages/p/package.json': x,
  },
  'a workspace below': {
    ...evil,
    'package.json': { workspaces: ['./packages/**'] },
    'packages/a/b/p/package.json': x,
  },
  'the project': { ...evil, 'package.json': x },
  'a program of the project': {
    'package.json': { name: 'y', version: '1.0.0', bin: { 'a/x@1.0.0': 'local' } },
    local: program,
  },
  'a program in .bin': { 'node_modules/.bin/x@1.0.0': program },
  'a node in .bin': { 'node_modules/.bin/node': program },
  'a shell in .bin': { 'node_modules/.bin/sh': program },
  "another name in npm's record": {
    ...evil,
    'node_modules/y/package.json': { name: 'y', version: '1.0.0' },
    'node_modules/.package-lock.json': lock({ 'node_modules/y': x }),
  },
  "a folder that only npm's record knows": {
    ...evil,
    'node_modules/x/README': '',
    'node_modules/.package-lock.json': lock({ 'node_modules/x': { ...x, name: undefined } }),
  },
};

describe('local code in place of a pinned package of npm (S1p)', function () {
  suiteNotHere(this, process.platform === 'win32', 'its programs are scripts of a shell');
  this.timeout(300_000);
  let cli: CommandLine;
  let registry: NpmRegistry;

  before(async () => {
    cli = await CommandLine.open();
    registry = await NpmRegistry.open();
    const bin = '#!/usr/bin/env node\nconsole.log("registry");\n';
    registry.publish({ name: 'x', version: '1.0.0', bin: 'x.js' }, { 'x.js': bin });
    mkdirSync(cli.home);
    writeFileSync(path.join(cli.home, '.npmrc'), `registry=${registry.address}\n`);
  });

  after(async () => {
    await cli.close();
    await registry.close();
  });

  function folderOf(title: string, files: Files): string {
    const folder = realPath(path.join(cli.folder, title.replaceAll(/\W/g, '-')));
    mkdirSync(folder);
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(folder, name);
      mkdirSync(path.dirname(file), { recursive: true });
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      const [, target] = /^-> (.*)/.exec(text) ?? [];
      if (target === undefined) writeFileSync(file, text, { mode: 0o755 });
      else symlinkSync(target, file);
      // npm believes no record that is older than a package.
      const later = new Date(Date.now() + 60_000);
      if (name.endsWith('.package-lock.json')) utimesSync(file, later, later);
    }
    return folder;
  }

  async function printed(folder: string): Promise<string> {
    return await work('npx', async () => {
      const child = cli.npm('npx', ['-y', 'x@1.0.0'], folder);
      let text = '';
      child.stdout?.on('data', (chunk) => (text += String(chunk)));
      await once(child, 'close');
      return text;
    });
  }

  function seen(folder: string): readonly string[] {
    const launch = {
      transport: 'stdio',
      command: 'npx',
      args: ['-y', 'x@1.0.0'].map(literal),
      cwd: folder,
      env: new Map(),
    } as const;
    return decidingFiles([folder], launch).map(({ kind }) => kind);
  }

  it('Without local code, the package of the registry runs, and nothing decides', async () => {
    const folder = folderOf('nothing', { 'package.json': { name: 'y', bin: { y: 'y.js' } } });
    assert.equal(await printed(folder), 'registry\n');
    assert.deepEqual(seen(folder), []);
  });

  for (const [title, files] of Object.entries(folders))
    it(`npm runs ${title}, and the launch has it as a local package`, async () => {
      const folder = folderOf(title, files);
      assert.match(await printed(folder), /^local/);
      assert.ok(seen(folder).includes('local package'));
    });
});
