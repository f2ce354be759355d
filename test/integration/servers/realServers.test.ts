/**
 * Compares the real servers among the devDependencies with a bare client, by every road. `npm run
 * test:servers` compares twelve. Known differences have their reasons in `test/servers/known.ts`.
 */
import assert from 'node:assert/strict';
import { Comparison } from '../../servers/comparison.js';
import { installedServers } from '../../servers/servers.js';

describe('real servers give the same by each road as to a bare client', function () {
  this.timeout(300_000);
  let comparison: Comparison;

  before(async () => {
    comparison = await Comparison.begin(installedServers);
  });
  after(() => comparison.close());
  const compares = (title: string, run: () => Promise<void>): void => {
    it(title, async () => {
      await run();
      assert.deepEqual(comparison.surprises(), []);
    });
  };

  compares(
    'the gateway gives real servers unchanged, to two conversations at once and after a death (G2, X4)',
    () => comparison.endpoints(),
  );

  compares('the editor gets the lists and results of real servers as its rules say (V1a)', () =>
    comparison.editor(),
  );

  compares('connect gives real servers unchanged over stdio (G6)', () => comparison.connect());

  compares('the command line prints the lists and results of a real server unchanged (H1)', () =>
    comparison.commandLine(['clock']),
  );
});
