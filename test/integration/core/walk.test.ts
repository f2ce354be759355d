/**
 * The files of `src` that one tool call runs through, there and back, as V8 counts them. A file
 * counts if one of its functions ran during the call. The base leaves (clock, events, texts),
 * constants and the start of the agent do not count.
 */
import assert from 'node:assert/strict';
import { Session } from 'node:inspector/promises';
import { Agent } from '../../support/core/agent.js';
import { repository } from '../../support/core/bundles.js';
import { rawWith } from '../../support/core/configText.js';
import { endStages, startStage, textOf } from '../../support/core/stage.js';

/** Where a call of an agent comes in, and where it leaves for its server. */
const ends = ['core/gateway/http/endpoint.ts', 'core/connections/stdio/transport.ts'];

describe('the walk of a tool call (src/README.md)', () => {
  afterEach(endStages);

  it(`A tool call runs from ${ends.join(' to ')}`, async () => {
    const stage = await startStage();
    await stage.edit({ a: rawWith(['echo']) });
    const agent = await Agent.connect(stage, 'a', 'agent');
    const call = async (): Promise<string> => textOf(await agent.result('echo', { text: 'x' }));
    await call();
    const session = new Session();
    session.connect();
    try {
      await session.post('Profiler.enable');
      await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
      const source = `${repository}/src/`;
      const walk = async (): Promise<string[]> => {
        await session.post('Profiler.takePreciseCoverage');
        await call();
        const { result } = await session.post('Profiler.takePreciseCoverage');
        return result
          .filter(({ functions }) =>
            // The loader reads a constant of another module by a getter.
            functions.some(
              ({ functionName, ranges }) =>
                !/^get |^$/.test(functionName) && (ranges[0]?.count ?? 0) > 0,
            ),
          )
          .map(({ url }) => decodeURI(url.replace(/^file:\/\//, '')).replace(/\?.*$/, ''))
          .filter((file) => file.startsWith(source) && !file.startsWith(`${source}core/base/`))
          .map((file) => file.slice(source.length));
      };
      const files = await walk();
      assert.deepEqual(
        ends.filter((file) => !files.includes(file)),
        [],
        files.sort().join('\n'),
      );
      if (process.env['MCP_TOOLSETS_WALK'])
        console.log(`${files.length} files\n${files.sort().join('\n')}`);
    } finally {
      session.disconnect();
    }
  });
});
