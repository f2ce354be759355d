/**
 * `npm run test:agents`: the real programs against a real `mcp-toolsets serve`, offline, each with
 * a scripted model.
 *
 *   npm run test:agents -- [--only claude-code,codex] [--step call,release] [--quick] [--record FOLDER]
 *
 * --quick   without steps that wait for longer than a minute
 * --record  the requests of each agent to its model, a file for each
 *
 * Prints a table of agents and steps. Exits with 1 if a step failed, unless the agent itself has
 * this limit.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { agentPrograms, notRun } from './agentPrograms.js';
import type { AgentProgram } from './agentProgram.js';
import { ScriptedModel } from './models/scriptedModel.js';
import { Place } from './place.js';
import { begun, slowSteps, stepIds, steps, type Scene, type StepId } from './steps.js';
import { printTable, type Outcome, type Row } from './table.js';

interface Chosen {
  readonly steps: readonly StepId[];
  readonly record: string | undefined;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      step: { type: 'string' },
      quick: { type: 'boolean', default: false },
      record: { type: 'string' },
    },
  });
  const agents = chosenOf(values.only, agentPrograms, ({ id }) => id);
  const wanted = chosenOf(values.step, stepIds, (id) => id).filter(
    (id) => !values.quick || !slowSteps.includes(id),
  );
  const record = values.record && path.resolve(values.record);
  if (record) mkdirSync(record, { recursive: true });
  const rows: Row[] = [];
  for (const agent of agents) rows.push(await check(agent, { steps: wanted, record }));
  printTable(rows, wanted, notRun);
  return rows.some(({ outcomes }) => [...outcomes.values()].some(({ kind }) => kind === 'failed'))
    ? 1
    : 0;
}

function chosenOf<T>(
  words: string | undefined,
  all: readonly T[],
  idOf: (one: T) => string,
): readonly T[] {
  if (words === undefined) return all;
  return words.split(',').flatMap((word) => {
    const found = all.filter((one) => idOf(one) === word);
    if (found.length === 0)
      throw new Error(`There is no "${word}"; known are ${all.map(idOf).join(', ')}.`);
    return found;
  });
}

async function check(agent: AgentProgram, chosen: Chosen): Promise<Row> {
  const outcomes = new Map<StepId, Outcome>();
  const model = await ScriptedModel.start(
    chosen.record && path.join(chosen.record, `${agent.id}.txt`),
  );
  const say = (id: StepId, outcome: Outcome): void => {
    outcomes.set(id, outcome);
    console.log(
      `${agent.title}  ${id}: ${outcome.kind === 'seen' ? '' : `${outcome.kind}: `}${outcome.text}`,
    );
  };
  let place: Place | undefined;
  try {
    place = await Place.open(agent, model);
    let scene: Scene | undefined;
    for (const id of chosen.steps) {
      try {
        scene = await sceneOf(place, model, scene);
        say(id, judged(agent, id, { kind: 'seen', text: await steps[id](scene) }));
      } catch (error) {
        say(id, judged(agent, id, { kind: 'failed', text: (error as Error).message }));
        // An agent without the toolset cannot take the next steps.
        if (id === 'entries' || !scene) break;
      }
    }
  } catch (error) {
    say('entries', { kind: 'failed', text: (error as Error).message });
  } finally {
    await place?.close();
    model.end();
  }
  return { agent, outcomes };
}

/** The conversation of the last step, or a new one if that has ended. */
async function sceneOf(
  place: Place,
  model: ScriptedModel,
  last: Scene | undefined,
): Promise<Scene> {
  if (last && !last.run.hasEnded) return last;
  return { place, model, run: await begun(place, model) };
}

/**
 * A failed step within the agent's known limits is not our failure. A success there is reported.
 */
function judged({ limits }: AgentProgram, id: StepId, outcome: Outcome): Outcome {
  const limit = limits[id];
  if (limit === undefined) return outcome;
  if (outcome.kind === 'failed') return { kind: 'limit', text: limit };
  return {
    kind: 'failed',
    text: `works now (${outcome.text}): it is no limit of the agent any more`,
  };
}

void main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
