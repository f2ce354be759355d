/**
 * The MCP Inspector of either era uses servers of either era through `mcp-toolsets serve` (X8).
 */
import assert from 'node:assert/strict';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixture, type Entry } from '../../support/core/configText.js';
import { inspectIn, provideInspector } from '../../support/core/inspector.js';
import { Serving } from '../../support/core/serving.js';
import { suiteNotHere } from '../../support/notHere.js';

const echo = (prefix: string): Entry => ({
  tools: { whitelist: ['echo'] },
  transform: [{ prefix }],
});
/** Clients without another conversation id use a separate address. */
const ownAddress = '/c/abcdefghijklmnopqrstuvwx';
const addresses = { legacy: '', auto: '', modern: ownAddress } as const;

describe('the Inspector', function () {
  suiteNotHere(this, process.platform === 'win32', 'it is fetched with the npm of this system');
  this.timeout(60_000);
  let cli: CommandLine;
  let serving: Serving;

  before(async function () {
    this.timeout(600_000);
    await provideInspector();
    cli = await CommandLine.open({
      old: fixture('plain', [], echo('old_')),
      modern: fixture('modern', [], echo('modern_')),
    });
    serving = await Serving.begin(cli, ['old', 'modern']);
  });

  after(async () => {
    await serving.end();
    await cli.close();
  });

  for (const [era, address] of Object.entries(addresses)) {
    for (const toolset of ['old', 'modern']) {
      it(`The Inspector of era "${era}" lists and calls the tools of the ${toolset} server`, async () => {
        const ask = (...args: string[]): Promise<unknown> =>
          inspectIn(
            era as keyof typeof addresses,
            `${serving.base}/mcp/${toolset}${address}`,
            serving.token,
            ...args,
          );
        const { tools } = (await ask('--method', 'tools/list')) as { tools: { name: string }[] };
        assert.deepEqual(
          tools.map(({ name }) => name),
          [`${toolset}_echo`, `mcp_release_${toolset}`],
        );
        const call = [
          '--method',
          'tools/call',
          '--tool-name',
          `${toolset}_echo`,
          '--tool-arg',
          'text=hello',
        ];
        const { content } = (await ask(...call)) as { content: { text: string }[] };
        assert.equal(content[0]?.text, 'hello');
      });
    }
  }
});
