/** The table at the end: agents in columns, as on the page about them, steps in rows. */
import type { AgentProgram } from './agentProgram.js';
import { versionOf } from './programs.js';
import type { StepId } from './steps.js';

export interface Outcome {
  /** `limit`: the agent itself cannot do this. */
  readonly kind: 'seen' | 'limit' | 'failed';
  readonly text: string;
}

export interface Row {
  readonly agent: AgentProgram;
  readonly outcomes: ReadonlyMap<StepId, Outcome>;
}

/** @param notRun unavailable programs, each with the reason */
export function printTable(
  rows: readonly Row[],
  steps: readonly StepId[],
  notRun: Readonly<Record<string, string>>,
): void {
  const line = (cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`);
  console.log('');
  line(['agent', ...steps]);
  line(['---', ...steps.map(() => '---')]);
  for (const { agent, outcomes } of rows) {
    line([
      `${agent.title} ${versionOf(agent.id)}`,
      ...steps.map((step) => cell(outcomes.get(step))),
    ]);
  }
  console.log('');
  for (const { agent, outcomes } of rows) {
    for (const [step, { kind, text }] of outcomes) {
      if (kind !== 'seen')
        console.log(
          `${agent.title}, ${step}: ${kind === 'limit' ? 'a limit of the agent' : 'failed'}: ${text}`,
        );
    }
  }
  for (const [program, why] of Object.entries(notRun))
    console.log(`${program} was not run: ${why}`);
}

function cell(outcome: Outcome | undefined): string {
  if (!outcome) return '–';
  return { seen: outcome.text, limit: 'A', failed: 'FAILED' }[outcome.kind];
}
