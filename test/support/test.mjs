/**
 * `npm test`: everything that can fail, from a fresh clone. Plain JavaScript, because it installs
 * the packages for the rest. `testRun/main.ts` does the work.
 *
 *     npm test -- [--only unit|integration|adversarial|editor|bench] [--grep text] [--editor 1.139|1.133]
 *
 * The last line is `N passed, N failed`, whatever fails.
 */
import { join } from 'node:path';
import { ensureDependencies, repoRoot } from './npm.mjs';
import { closeWithLine } from './testRun/outer.mjs';

const main = join(repoRoot, 'test/support/testRun/main.ts');
process.exit(await closeWithLine(ensureDependencies, main, process.argv.slice(2)));
