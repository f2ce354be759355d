/**
 * `npm start`: from a fresh clone to VS Code with the example workspace and the built extension.
 * Plain JavaScript, because it installs the packages for the rest. `start/main.ts` does the work.
 *
 *     npm start                    opens the example workspace and stays
 *     npm start -- <folder>        opens another folder
 *     npm start -- --once          prints the tools, calls one, ends
 */
import { ensureDependencies, npm, runScript } from './npm.mjs';

await ensureDependencies();
const built = await npm(['run', '--silent', 'build']);
if (built !== 0) process.exit(built);
process.exit(await runScript('test/support/start/main.ts', process.argv.slice(2)));
