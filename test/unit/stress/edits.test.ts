/**
 * Random edits, calls, deaths and actions of persons against an oracle (spec R, L, X4). Every run
 * prints its seed; `MCP_TOOLSETS_SEED=n` repeats it, `MCP_TOOLSETS_EDITS=n` makes more edits.
 */
import { Random, seedOf } from './random.js';
import { Simulation } from './simulation.js';

const editsInAll = Number(process.env['MCP_TOOLSETS_EDITS'] ?? 500);
const editsOfOne = 150;

describe('random edits against an oracle', () => {
  it(`the host agrees with the oracle through ${editsInAll} edits, with calls, deaths and persons between them`, async function () {
    this.timeout(0);
    const seed = seedOf('MCP_TOOLSETS_SEED');
    for (let run = 0, edits = 0; edits < editsInAll; run++) {
      const simulation = new Simulation(new Random(seed + run));
      while (simulation.editsMade < editsOfOne && edits + simulation.editsMade < editsInAll)
        await simulation.step();
      await simulation.end();
      edits += simulation.editsMade;
    }
  });
});
