/** What git tracks must be the same on every machine: a link leads elsewhere on the next one, and what is ignored is made there. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { itNotHere } from '../support/notHere.js';
import { root } from './modules.js';

const isClone = spawnSync('git', ['rev-parse', '--git-dir'], { cwd: root }).status === 0;
const inClone = itNotHere(!isClone, 'Git is not installed, or this is no clone of the repository.');

/** One line for each file, as `git ls-files` prints it. */
function files(...options: string[]): string[] {
  const output = execFileSync('git', ['ls-files', ...options], { cwd: root, encoding: 'utf8' });
  return output.split('\n').filter((line) => line !== '');
}

describe('what git tracks', () => {
  inClone('has no link and no other repository in it', () => {
    const tracked = files('--stage');
    assert.ok(tracked.length > 500);
    assert.deepEqual(
      tracked.filter((line) => !line.startsWith('100')),
      [],
    );
  });

  inClone('has nothing in it that .gitignore names', () => {
    assert.deepEqual(files('--cached', '--ignored', '--exclude-standard'), []);
  });
});
