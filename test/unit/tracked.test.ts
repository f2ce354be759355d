/**
 * Tracked files must be the same on every machine. A link leads elsewhere on the next machine, and
 * ignored files are made there.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { linesOf } from '../../src/core/base/text.js';
import { itNotHere } from '../support/notHere.js';
import { root } from './modules.js';

const isClone = spawnSync('git', ['rev-parse', '--git-dir'], { cwd: root }).status === 0;
const inClone = itNotHere(!isClone, 'Git is not installed, or this is no clone of the repository.');

/** One line for each file, as `git ls-files` prints it. */
function files(...options: string[]): string[] {
  const output = execFileSync('git', ['ls-files', ...options], { cwd: root, encoding: 'utf8' });
  return linesOf(output);
}

describe('files tracked by git', () => {
  inClone('Git tracks no link and no other repository', () => {
    const tracked = files('--stage');
    assert.ok(tracked.length > 500);
    assert.deepEqual(
      tracked.filter((line) => !line.startsWith('100')),
      [],
    );
  });

  inClone('Git tracks no file named in .gitignore', () => {
    assert.deepEqual(files('--cached', '--ignored', '--exclude-standard'), []);
  });
});
