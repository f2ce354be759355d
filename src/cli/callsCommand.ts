/**
 * `mcp-toolsets calls`: the facts of the last calls of a folder, by every agent and program
 * (`core/files/callFile`).
 */
import { link } from 'node:fs/promises';
import path from 'node:path';
import { isCall, lastFacts, type Fact } from '../core/calls/fact.js';
import { fits, millisecondsOf, type FactFilter } from '../core/calls/filter.js';
import { homedir } from '../core/base/home.js';
import { systemClock } from '../core/base/clock.js';
import { oneLine, visibleJson } from '../core/base/inert.js';
import { makePrivateFile } from '../core/base/privateFile.js';
import { jsonLines } from '../core/base/text.js';
import { callFileOf, callLines, followCalls, mostFacts } from '../core/files/callFile.js';
import { conversationLabel } from '../core/protocol/conversationLabel.js';
import { Interruption } from './interruption.js';
import type { Options, Words } from './options.js';
import { complain, misuse, print, reasonOf } from './output.js';
import type { Run } from './withEngine.js';

export async function calls(run: Run, [action, target]: Words, request: Options): Promise<number> {
  if (action !== undefined && (action !== 'export' || target === undefined)) {
    return misuse('`calls` takes no argument, or `export` and a file.');
  }
  const asked = askedFacts(request);
  if (typeof asked === 'string') return misuse(asked);
  const { filter, last } = asked;
  const file = callFileOf(run.folder, homedir());
  try {
    const lines = await callLines(file);
    const fitting = factsIn(lines, filter);
    const isAll = target !== undefined && request.last === undefined;
    const found = isAll ? fitting : sinceCall(fitting, last);
    if (target !== undefined) return await exported(path.resolve(target), found);
    if (found.length === 0 && !request.follow && !run.json)
      return print(
        lines.length === 0 ? 'No calls are recorded.' : 'No recorded call fits these options.',
      );
    show(run, found);
    return request.follow ? await follow(run, file, filter, lines.at(-1)) : 0;
  } catch (error) {
    return complain(`The calls cannot be read: ${reasonOf(error)}.`);
  }
}

/** Returns which facts are wanted, or what is wrong with the options. */
function askedFacts({
  server,
  agent,
  failed,
  since: given,
  last: most,
}: Options): { readonly filter: FactFilter; readonly last: number } | string {
  const age = given === undefined ? undefined : millisecondsOf(given);
  if (given !== undefined && age === undefined)
    return `"${given}" is no age. Use a number with s, m, h or d, such as 10m.`;
  const last = Number(most ?? 50);
  if (!(last > 0 && Number.isSafeInteger(last))) return `"${most}" is no number of calls.`;
  const since = age === undefined ? undefined : systemClock.now() - age;
  return { filter: { server, agent, failed, since }, last };
}

/** The oldest first. Each program writes its own facts up to a second later. */
function factsIn(lines: readonly string[], filter: FactFilter): Fact[] {
  const found = lastFacts(lines, mostFacts).filter((fact) => fits(filter, fact));
  return found.sort((one, other) => one.at - other.at);
}

/** Returns the last calls with the events since the first of them, or else the last events. */
function sinceCall(facts: readonly Fact[], last: number): readonly Fact[] {
  const calls = facts.filter(isCall).slice(-last);
  return calls[0] ? facts.slice(facts.indexOf(calls[0])) : facts.slice(-last);
}

async function exported(file: string, facts: readonly Fact[]): Promise<number> {
  try {
    await makePrivateFile(file, jsonLines(facts), link);
  } catch (error) {
    return complain(`${file} cannot be written: ${reasonOf(error)}.`);
  }
  const made = facts.filter(isCall).length;
  const counted = (count: number, what: string): string =>
    `${count} ${what}${count === 1 ? '' : 's'}`;
  return print(`${counted(made, 'call')} and ${counted(facts.length - made, 'event')} in ${file}`);
}

/**
 * Shows each new fact until the person or the reader of the output ends the command. @param shown
 * the last line that was shown
 */
async function follow(
  run: Run,
  file: string,
  filter: FactFilter,
  shown: string | undefined,
): Promise<number> {
  let before = shown;
  const interruption = new Interruption();
  const following = followCalls(file, systemClock, (lines) => {
    const fresh = before === undefined ? lines : lines.slice(lines.lastIndexOf(before) + 1);
    before = lines.at(-1) ?? before;
    show(run, factsIn(fresh, filter));
  });
  // The timers of the clock keep no process alive.
  const alive = setInterval(() => {}, 60_000);
  const left = new Promise<number>((resolve) => process.stdout.once('error', () => resolve(0)));
  const code = await Promise.race([interruption.exitCode, left]);
  clearInterval(alive);
  following.dispose();
  interruption.dispose();
  return code;
}

function show({ json }: Run, facts: readonly Fact[]): void {
  for (const fact of facts) print(json ? visibleJson(JSON.stringify(fact)) : lineOf(fact));
}

const moment = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });

function wordsOf(fact: Fact): string[] {
  if (!isCall(fact)) return [fact.event, '', fact.instance ?? fact.toolset];
  const { outcome, agent, toolset, tool, took, method } = fact;
  const what = method === undefined ? tool : `${method} ${tool}`;
  return [
    outcome,
    `${took} ms`,
    `${what} of ${toolset}`,
    agent === '' ? 'a program without a name' : agent,
  ];
}

function lineOf(fact: Fact): string {
  const { at, conversation, reason = '' } = fact;
  const [outcome = '', took = '', ...rest] = wordsOf(fact);
  const label = conversation === undefined ? '' : conversationLabel(conversation);
  const texts = [...rest, label, reason].map(oneLine).filter((text) => text !== '');
  return [moment.format(at), outcome.padEnd(9), took.padStart(9), ...texts].join('  ');
}
