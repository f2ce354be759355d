/**
 * `npm run test:agenthost`: the toolsets in the agent host of a real VS Code, offline and without
 * an account.
 *
 *   npm run test:agenthost -- [--grep text]
 */
import Mocha from 'mocha';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { npm } from '../support/npm.mjs';
import { closeSharedBrowser } from '../support/editor/browser.ts';
import { undoAll, undoOnSignals } from '../support/editor/cleanup.ts';

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { grep: { type: 'string' } } });
  undoOnSignals();
  await npm(['run', '--silent', 'build'], { quiet: true });
  const mocha = new Mocha({ ui: 'bdd', ...(values.grep !== undefined && { grep: values.grep }) });
  for (const name of ['toolsets', 'entry']) mocha.addFile(join(__dirname, `${name}.test.ts`));
  await mocha.loadFilesAsync();
  return await new Promise<number>(
    (done) => void mocha.run((failures) => done(failures > 0 ? 1 : 0)),
  );
}

void main()
  .catch((error: unknown) => {
    console.error(error);
    return 1;
  })
  .then(async (code) => {
    await closeSharedBrowser();
    await undoAll();
    process.exit(code);
  });
