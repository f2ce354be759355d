/** Whether Git tracks a local file (C7), by an index that Git itself wrote. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isTracked } from '../../../src/core/approval/gitIndex.js';
import { localPath } from '../../../src/core/config/sources.js';

describe('isTracked, for a local file in an index of Git (C7)', () => {
  let outside: string;
  let root: string;

  beforeEach(() => {
    outside = realpathSync(mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-index-')));
    root = path.join(outside, 'tree');
    mkdirSync(root);
  });

  afterEach(() => rmSync(outside, { recursive: true }));

  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: root,
      env: { ...process.env, HOME: outside, GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
    });

  function write(...files: string[]): void {
    for (const file of files) {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), file);
    }
  }

  const long = `${'deep/'.repeat(45)}f`;
  const folders = ['', 'a/sub/', 'é/', '.minds/'];
  const neighbours = ['.minds/mcp.local.yam', '.minds/mcp.local.yaml.bak', 'a/sub/.minds/mcp.yaml'];

  const answers = (): (boolean | undefined)[] =>
    folders.map((folder) => isTracked(path.join(root, folder, localPath)));

  function add(version: string): void {
    write(...neighbours, long, 'z', ...folders.map((folder) => folder + localPath));
    git('add', ...neighbours, long, 'z');
    git('update-index', '--index-version', version);
  }

  for (const format of ['sha1', 'sha256'])
    for (const version of ['2', '3', '4'])
      it(`reads version ${version} with ${format}`, () => {
        git('init', '--quiet', `--object-format=${format}`);
        assert.deepEqual(answers(), [false, false, false, false], 'without an index');
        add(version);
        // Only an entry with further flags needs version 3.
        if (version !== '2') git('add', '--intent-to-add', neighbours[0] ?? '');
        assert.deepEqual(answers(), [false, false, false, false]);
        for (const [index, folder] of folders.entries()) {
          git('add', '--force', folder + localPath);
          assert.deepEqual(
            answers(),
            folders.map((_, other) => other <= index),
          );
        }
        git('rm', '--quiet', '--cached', localPath);
        git('write-tree');
        assert.deepEqual(answers(), [false, true, true, true]);
      });

  for (const version of ['2', '4'])
    it(`a split index of version ${version} says only what is in its own part`, () => {
      git('init', '--quiet');
      add(version);
      git('update-index', '--split-index');
      assert.deepEqual(answers(), [undefined, undefined, undefined, undefined]);
      git('add', localPath);
      assert.deepEqual(answers(), [true, undefined, undefined, undefined]);
    });

  it('in a sparse index, a folder stands for its files', () => {
    git('init', '--quiet');
    add('4');
    git('add', '.');
    git('commit', '--quiet', '--message', 'all');
    git('sparse-checkout', 'set', '--cone', '--sparse-index', '.minds');
    assert.match(git('ls-files', '--sparse'), /^a\/$/m);
    assert.deepEqual(answers(), [true, undefined, undefined, true]);
  });

  it('a damaged or cut index says nothing, and a path of more than 4095 characters is no mistake', () => {
    git('init', '--quiet');
    add('4');
    const index = path.join(root, '.git', 'index');
    for (const size of [400, 100, 13, 3, 0]) {
      truncateSync(index, size);
      assert.deepEqual(answers(), [undefined, undefined, undefined, undefined], String(size));
    }
    rmSync(index);
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: root, input: '' });
    const deepest = `${'0123456789/'.repeat(400)}x`;
    execFileSync('git', ['update-index', '--index-info'], {
      cwd: root,
      input: [deepest, 'a/sub/.minds/mcp.local.yaml']
        .map((file) => `100644 ${String(blob).trim()}\t${file}\n`)
        .join(''),
    });
    assert.deepEqual(answers(), [false, true, false, false]);
  });
});
