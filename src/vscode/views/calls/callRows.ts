/**
 * Rows of the view *Calls*, newest first, in pages, so 10,000 cost as little as 100. Pure; without
 * `vscode`.
 */
import { english, plural, said, translated } from '../../../core/base/language.js';
import { code, formatted, type Markdown } from '../../../core/base/inert.js';
import { tookPhrase } from '../../../core/base/text.js';
import { groupedBy } from '../../../core/base/groupedBy.js';
import { hasFailed, isCall, type CallFact, type ServerFact } from '../../../core/calls/fact.js';
import type { NumberedFact } from '../../../core/calls/factLog.js';
import { conversationLabel } from '../../../core/protocol/conversationLabel.js';
import { isTrial } from '../../engine/conversationTitles.js';
import { agentPhrase, durationPhrase, present, rowTexts, timeOf, tokenPhrase } from '../phrases.js';
import type { ShownRow } from '../trees.js';

export type CallGrouping = 'time' | 'conversation' | 'server';

export interface CallRow extends ShownRow {
  readonly fact?: CallFact | ServerFact;
  readonly below?: readonly NumberedFact[];
}

export interface CallRowOptions {
  readonly grouping: CallGrouping;
  readonly now: number;
  readonly titleOf: (conversation: string) => { readonly text: string } | undefined;
  /** True if what went in and out is known in this window. */
  readonly hasContent: (fact: CallFact) => boolean;
}

const pageSize = 200;
/** At least so many of the newest facts are in no page. */
const fewest = 100;

export function callRows(facts: readonly NumberedFact[], options: CallRowOptions): CallRow[] {
  return options.grouping === 'time' ? rowsIn('', facts, options) : groupsOf(facts, options);
}

export function rowsBelow(
  { id, context, below = [] }: CallRow,
  options: CallRowOptions,
): CallRow[] {
  return context === 'page'
    ? below.map(({ fact }) => rowOf(fact, options))
    : rowsIn(id, below, options);
}

/** A page keeps its facts while new ones come, so its row stays the same. */
function rowsIn(
  parent: string,
  facts: readonly NumberedFact[],
  options: CallRowOptions,
): CallRow[] {
  const pageOf = ({ number }: NumberedFact): number => Math.floor(number / pageSize);
  const oldestShown = facts[Math.min(facts.length, fewest) - 1];
  return [...groupedBy(facts, pageOf)].flatMap(([page, below]) =>
    oldestShown && page >= pageOf(oldestShown)
      ? below.map(({ fact }) => rowOf(fact, options))
      : [pageRow(`${parent}/page ${page}`, below, options)],
  );
}

function pageRow(id: string, below: readonly NumberedFact[], { now }: CallRowOptions): CallRow {
  const newest = below[0]?.fact.at ?? now;
  const oldest = below.at(-1)?.fact.at ?? now;
  const label = said`${timeOf(oldest, now)} to ${timeOf(newest, now)}`;
  const summary = [summaryOf(below)];
  return {
    id,
    ...rowTexts({
      label,
      words: summary,
      spoken: summary,
    }),
    icon: { id: 'history' },
    context: 'page',
    below,
  };
}

function summaryOf(below: readonly NumberedFact[]): string {
  const calls = below.filter(({ fact }) => isCall(fact)).length;
  const failed = below.filter(({ fact }) => hasFailed(fact)).length;
  const count =
    calls > 0
      ? plural(calls, '1 call', '{0} calls')
      : plural(below.length, '1 event', '{0} events');
  return failed > 0 ? said`${count}, ${failed} failed` : count;
}

function groupsOf(facts: readonly NumberedFact[], options: CallRowOptions): CallRow[] {
  const { grouping, now } = options;
  const isByServer = grouping === 'server';
  const groups = groupedBy(facts, ({ fact }) =>
    isByServer ? fact.toolset : (fact.conversation ?? ''),
  );
  return [...groups].map(([key, below]) => {
    const label = isByServer ? key : conversationName(key, options);
    const words = [summaryOf(below), agePhrase(now - (below[0]?.fact.at ?? now))];
    return {
      id: `group ${key}`,
      ...rowTexts({
        label,
        words,
        spoken: [label, ...words],
        lines: [key !== '' && code(key)],
      }),
      icon: { id: isByServer ? 'server' : 'comment-discussion' },
      context: 'group',
      below,
    };
  });
}

function conversationName(conversation: string, { titleOf }: CallRowOptions): string {
  if (conversation === '') return said`Outside conversations`;
  if (isTrial(conversation)) return said`Try Tool`;
  return titleOf(conversation)?.text ?? translated(conversationLabel(conversation));
}

function rowOf(fact: CallFact | ServerFact, options: CallRowOptions): CallRow {
  return isCall(fact) ? callRow(fact, options) : eventRow(fact, options);
}

function callRow(fact: CallFact, options: CallRowOptions): CallRow {
  const { tool, original, outcome, method, reason, instance } = fact;
  const label = method === undefined ? tool : `${method} ${tool}`.trim();
  const words = [
    !options.hasContent(fact) && said`no content`,
    agentPhrase(fact.agent),
    tookPhrase(fact.took),
    agePhrase(options.now - fact.at),
    conversationName(fact.conversation, options),
  ];
  const lines = [
    original === tool
      ? formatted`**${tool}** of ${fact.toolset}`
      : formatted`**${tool}** of ${fact.toolset}, originally ${original}`,
    formatted`${translated(outcome)}${reason === undefined ? '' : `: ${reason}`}`,
    formatted`${timeOf(fact.at, options.now)}, ${tookPhrase(fact.took)}`,
    formatted`${fact.sentSize} characters in, ${fact.resultSize} out, ${tokenPhrase(fact.tokens)}`,
    formatted`conversation ${code(fact.conversation)}`,
    instance !== undefined && formatted`instance ${code(instance)}`,
    !options.hasContent(fact) && notKept(),
  ];
  return {
    id: fact.id,
    ...rowTexts({
      label,
      words,
      spoken: [label, translated(outcome), ...words],
      lines,
    }),
    icon: outcomeIcons[outcome],
    context: present([
      'call',
      method === undefined && 'tool',
      instance !== undefined && 'instance',
    ]).join(' '),
    fact,
  };
}

function eventRow(fact: ServerFact, options: CallRowOptions): CallRow {
  const { at, conversation, reason, instance } = fact;
  const { phrase, icon } = events[fact.event];
  const label = said`${fact.toolset} ${translated(phrase)}`;
  const words = [
    conversation !== undefined && conversationName(conversation, options),
    reason !== undefined && translated(reason),
    agePhrase(options.now - at),
  ];
  const time = timeOf(at, options.now);
  const line =
    instance === undefined ? formatted`${time}` : formatted`${time}, instance ${instance}`;
  return {
    id: fact.id,
    ...rowTexts({
      label,
      words,
      spoken: [label, ...words],
      lines: [line],
    }),
    icon,
    context: instance === undefined ? 'event' : 'event instance',
    fact,
  };
}

function agePhrase(ms: number): string {
  return ms < 60_000 ? said`now` : said`${durationPhrase(ms)} ago`;
}

const failed = 'list.errorForeground';
const quiet = 'descriptionForeground';

const outcomeIcons: Readonly<Record<CallFact['outcome'], CallRow['icon']>> = {
  ok: { id: 'check', color: 'testing.iconPassed' },
  error: { id: 'error', color: failed },
  refused: { id: 'circle-slash', color: 'list.warningForeground' },
  cancelled: { id: 'stop-circle', color: quiet },
  'timed out': { id: 'watch', color: failed },
  lost: { id: 'debug-disconnect', color: failed },
  'not sent': { id: 'warning', color: 'list.warningForeground' },
};

const events: Readonly<
  Record<ServerFact['event'], { readonly phrase: string; readonly icon: CallRow['icon'] }>
> = {
  started: { phrase: english`started an instance`, icon: { id: 'debug-start', color: quiet } },
  'start failed': { phrase: english`did not start`, icon: { id: 'error', color: failed } },
  died: { phrase: english`lost an instance`, icon: { id: 'debug-disconnect', color: failed } },
  released: { phrase: english`released an instance`, icon: { id: 'debug-stop', color: quiet } },
  ended: { phrase: english`ended an instance`, icon: { id: 'debug-stop', color: quiet } },
  edited: { phrase: english`was edited`, icon: { id: 'edit', color: quiet } },
};

export const notKept = (): Markdown =>
  formatted`Its input and output are not kept here. Only the program that made the call keeps them, in memory, for the last 50 MiB of calls.`;
