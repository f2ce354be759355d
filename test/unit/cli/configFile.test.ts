/** The folder of `connect` without `-C` (G6b). */
import assert from 'node:assert/strict';
import {
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { leadsOut, nearestFolder } from '../../../src/cli/configFile.js';

import { launcherPath } from '../../../src/core/base/paths.js';
import { itNotHere } from '../../support/notHere.js';

const asRootIt = itNotHere(
  process.getuid?.() !== 0,
  'Only root can give a folder to another user.',
);
/** The user `nobody` of most systems. */
const another = 65534;

describe('the folder of `connect`', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-home-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const folder = (...parts: string[]): string => {
    const made = path.join(home, ...parts);
    mkdirSync(made, { recursive: true });
    return made;
  };
  const configure = (...parts: string[]): void =>
    writeFileSync(path.join(folder(...parts, '.minds'), 'mcp.yaml'), '');

  it('The file of the home folder is not a workspace around the working directory', () => {
    configure();
    folder('.git');
    const start = folder('project', 'src');
    assert.equal(nearestFolder(start, home), start);
  });

  it('Outside a repository, a folder above does not count, because others may write it', () => {
    configure('shared');
    const start = folder('shared', 'work');
    assert.equal(nearestFolder(start, home), start);
  });

  it('The search ends at the root of the repository, and that root may have the file', () => {
    configure('outside');
    folder('outside', 'repository', '.git');
    const start = folder('outside', 'repository', 'src');
    assert.equal(nearestFolder(start, home), start);
    configure('outside', 'repository');
    assert.equal(nearestFolder(start, home), path.dirname(start));
  });

  for (const name of ['', '.git', '.minds'])
    asRootIt(
      `A folder is no repository if another user owns ${name === '' ? 'it' : `its ${name}`} (G6b)`,
      () => {
        folder('project', '.git');
        configure('project');
        const start = folder('project', 'src');
        assert.equal(nearestFolder(start, home), path.dirname(start));
        chownSync(path.join(home, 'project', name), another, another);
        assert.equal(nearestFolder(start, home), start);
      },
    );

  for (const name of ['.git', '.minds'])
    asRootIt(`A folder is no repository if another user placed a link as its ${name} (G6b)`, () => {
      folder('other', '.git');
      configure('other');
      const start = folder('project', 'src');
      if (name === '.git') configure('project');
      else folder('project', '.git');
      const link = path.join(home, 'project', name);
      symlinkSync(path.join(home, 'other', name), link);
      assert.equal(nearestFolder(start, home), path.dirname(start));
      lchownSync(link, another, another);
      assert.equal(nearestFolder(start, home), start);
    });

  asRootIt(
    'A repository of the person around a repository of another user does not end at that (G6b)',
    () => {
      folder('project', '.git');
      configure('project');
      const start = folder('project', 'theirs');
      chownSync(folder('project', 'theirs', '.git'), another, another);
      assert.equal(nearestFolder(start, home), path.join(home, 'project'));
    },
  );
});

describe('a path that leads out of the repository of `connect` (G6f)', () => {
  let home: string;
  beforeEach(() => {
    home = realpathSync.native(mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-home-')));
    for (const name of ['repository/.git', 'repository/src', 'other', 'work'])
      mkdirSync(path.join(home, name), { recursive: true });
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const leads = (to: string, start = 'repository/src', script?: string): boolean =>
    leadsOut(path.join(home, to), path.join(home, start), home, script);

  it('another folder, the folder above and a link to another folder lead out', () => {
    symlinkSync(path.join(home, 'other'), path.join(home, 'repository', 'link'), 'junction');
    for (const to of [
      'other',
      '',
      'repository/../other',
      'repository-2',
      'repository/link',
      'missing',
    ])
      assert.equal(leads(to), true, to);
  });

  it('the repository and the folders in it do not lead out', () => {
    for (const to of ['repository', 'repository/src', 'repository/src/deep'])
      assert.equal(leads(to), false, to);
  });

  it('a submodule and a worktree are repositories, because `.git` may be a file', () => {
    mkdirSync(path.join(home, 'repository', 'module'));
    writeFileSync(
      path.join(home, 'repository', 'module', '.git'),
      'gitdir: ../.git/modules/module',
    );
    assert.equal(leads('repository', 'repository/module'), true);
  });

  it('a repository of another user is one too, because its entries are not the person’s', function () {
    if (process.getuid?.() === 0)
      chownSync(path.join(home, 'repository', '.git'), another, another);
    assert.equal(leads('other'), true);
  });

  it('a worktree of the same repository does not lead out', () => {
    const own = path.join(home, 'repository', '.git', 'worktrees', 'tree');
    mkdirSync(own, { recursive: true });
    mkdirSync(path.join(home, 'tree'));
    writeFileSync(path.join(own, 'gitdir'), path.join(home, 'tree', '.git'));
    assert.equal(leads('tree'), true);
    writeFileSync(path.join(home, 'tree', '.git'), `gitdir: ${own}`);
    assert.equal(leads('tree'), false);
  });

  it('outside a repository, and for entries that start the launcher by its path, any path is fine', () => {
    assert.equal(leads('other', 'work'), false);
    assert.equal(leads('other', undefined, launcherPath(home)), false);
    assert.equal(leads('other', undefined, path.join(home, 'mcp-toolsets.js')), true);
  });
});
