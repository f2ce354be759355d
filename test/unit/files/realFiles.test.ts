import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixIt } from '../../support/notHere.js';
import { isUserFile } from '../../../src/core/config/sources.js';
import { configFileOf } from '../../../src/core/files/configFile.js';
import { isInside } from '../../../src/core/base/paths.js';
import { leadsOutside, writeInside } from '../../../src/core/files/realFiles.js';

describe('files and links (S1c)', () => {
  let root: string;
  let folder: string;
  let home: string;
  const own = (): string => path.join(home, '.minds/mcp.yaml');

  beforeEach(() => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'real-files-')));
    [folder, home] = [path.join(root, 'ws'), path.join(root, 'home')];
    mkdirSync(folder);
    mkdirSync(path.join(home, '.minds'), { recursive: true });
    writeFileSync(own(), 'version: 1\n');
  });

  afterEach(() => rmSync(root, { recursive: true }));

  const link = (target: string, at: string): void => {
    mkdirSync(path.dirname(path.join(folder, at)), { recursive: true });
    symlinkSync(target, path.join(folder, at));
  };

  for (const [what, make] of [
    ['a folder that is a link', () => link(path.join(home, '.minds'), '.minds')],
    ['a file that is a link', () => link(own(), '.minds/mcp.yaml')],
    [
      'a link to what is not there yet',
      () => link(path.join(home, '.minds/new.yaml'), '.minds/mcp.yaml'),
    ],
    ['a relative link', () => link('../home/.minds', '.minds')],
  ] as const) {
    it(`no write goes through ${what}`, () => {
      make();
      const file = configFileOf(folder);
      assert.match(file.outside() ?? '', /outside/);
      assert.throws(
        () => file.write({ before: 'version: 1\n', after: 'version: 1\nservers: {}\n' }),
        /outside/,
      );
      assert.ok(!existsSync(path.join(home, '.minds/new.yaml')));
    });
  }

  posixIt('It has no pipes of that kind.')(
    'a pipe in its place is not written, and nobody waits for its reader',
    () => {
      mkdirSync(path.join(folder, '.minds'));
      execFileSync('mkfifo', [path.join(folder, '.minds/mcp.yaml')]);
      const file = configFileOf(folder);
      assert.match(file.outside() ?? '', /not a regular file/);
      assert.throws(() => file.write({ before: '', after: 'version: 1\n' }), /not a regular file/);
    },
  );

  it('a link inside the folder is followed, and the folder may be behind a link', () => {
    mkdirSync(path.join(folder, 'shared'));
    link('shared', '.minds');
    symlinkSync(folder, path.join(root, 'alias'));
    for (const [each, before] of [
      [folder, ''],
      [path.join(root, 'alias'), 'version: 1\n'],
    ] as const) {
      const file = configFileOf(each);
      assert.equal(file.outside(), undefined);
      file.write({ before, after: 'version: 1\n' });
    }
    assert.ok(existsSync(path.join(folder, 'shared/mcp.yaml')));
    assert.equal(leadsOutside(folder, path.join(folder, 'not/there/yet')), undefined);
  });

  it('a hard link is not written, because its other name may be outside', () => {
    mkdirSync(path.join(folder, '.minds'));
    linkSync(own(), path.join(folder, '.minds/mcp.yaml'));
    const file = configFileOf(folder);
    assert.match(file.outside() ?? '', /hard link/);
    assert.throws(
      () => file.write({ before: 'version: 1\n', after: 'version: 1\nservers: {}\n' }),
      /hard link/,
    );
    assert.equal(readFileSync(own(), 'utf8'), 'version: 1\n');
  });

  it('a shorter text replaces all of a longer one, and a folder in its place is an error', () => {
    const file = path.join(folder, 'a/b/text');
    const before = 'long '.repeat(10_000);
    writeInside(folder, file, { before: '', after: before });
    writeInside(folder, file, { before, after: 'short' });
    assert.equal(readFileSync(file, 'utf8'), 'short');
    // Windows opens folders, too.
    assert.throws(
      () => writeInside(folder, path.join(folder, 'a'), { before: '', after: 'text' }),
      /not a regular file/,
    );
    assert.throws(
      () => writeInside(folder, path.join(folder, '../home/new'), { before: '', after: 'text' }),
      /outside/,
    );
  });

  it('a text written by another program in between stays', () => {
    const file = path.join(folder, 'text');
    const theirs = 'größer\n';
    for (const before of ['', 'größe\n', 'größer', 'größes\n', 'größer\n# more\n']) {
      writeFileSync(file, theirs);
      assert.throws(
        () => writeInside(folder, file, { before, after: 'ours\n' }),
        /changed it just now/,
      );
      assert.equal(readFileSync(file, 'utf8'), theirs);
    }
    writeInside(folder, file, { before: theirs, after: 'ours\n' });
    assert.equal(readFileSync(file, 'utf8'), 'ours\n');
    rmSync(file);
    assert.throws(
      () => writeInside(folder, file, { before: theirs, after: 'ours\n' }),
      /changed it just now/,
    );
  });

  it('the user’s file is theirs until a workspace brings the same file along', () => {
    assert.ok(isUserFile(own(), [folder], home));
    assert.ok(!isUserFile(path.join(folder, '.minds/mcp.yaml'), [folder], home));
    link(own(), '.mcprc');
    assert.ok(!isUserFile(own(), [folder], home));
    rmSync(path.join(folder, '.mcprc'));
    link(path.join(home, '.minds'), '.minds');
    assert.ok(!isUserFile(own(), [folder], home));
    symlinkSync(home, path.join(root, 'alias'));
    assert.ok(
      !isUserFile(own(), [path.join(root, 'alias')], home),
      'the workspace is the home folder',
    );
  });

  it('a folder is inside a workspace behind a link', () => {
    symlinkSync(folder, path.join(root, 'alias'));
    assert.ok(isInside(path.join(folder, 'tools'), path.join(root, 'alias')));
    assert.ok(isInside(folder, folder));
    assert.ok(!isInside(home, folder));
    assert.ok(!isInside(`${folder}-other`, folder));
  });
});
