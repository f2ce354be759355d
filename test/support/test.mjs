/**
 * `npm test`: everything that can fail, from a fresh clone. Plain JavaScript, because it installs the packages for
 * the rest. `testRun/main.ts` does the work.
 *
 *     npm test -- [--only unit|integration|adversarial|editor|bench] [--grep text] [--editor 1.139|1.133]
 */
import { ensureDependencies, runScript } from './npm.mjs';

await ensureDependencies();
process.exit(await runScript('test/support/testRun/main.ts', process.argv.slice(2)));
