/**
 * Random edits, calls, deaths, approvals and releases in a host with room for few instances
 * (R4, S1, X4). Every run prints its seed; `MCP_TOOLSETS_CROWD_SEED=n` repeats it,
 * `MCP_TOOLSETS_CROWDS=n` makes more runs.
 */
import { Crowd } from './crowd.js';
import { Random, seedOf } from './random.js';

const crowds = Number(process.env['MCP_TOOLSETS_CROWDS'] ?? 100);
const stepsOfOne = 120;

describe('a host with little room', () => {
  it(`the invariants hold through ${crowds} runs of random steps`, async function () {
    this.timeout(0);
    const seed = seedOf('MCP_TOOLSETS_CROWD_SEED');
    for (let run = 0; run < crowds; run++) await new Crowd(new Random(seed + run)).run(stepsOfOne);
  });
});
