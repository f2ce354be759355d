/**
 * The fact of a call whose gateway has died (H1b). Its client writes it, because nobody else knows
 * the call.
 */
import { withoutSecrets } from '../base/secrets.js';
import { clipped, jsonLines } from '../base/text.js';
import { lostCallReason } from '../protocol/lostCall.js';
import { approximateSize, idStart } from './contents.js';
import type { CallFact } from './fact.js';

export interface LostCall extends Pick<
  CallFact,
  'tool' | 'agent' | 'conversation' | 'at' | 'took'
> {
  readonly arguments: unknown;
}

const longestName = 1_000;
let nextNumber = 0;

/** Returns the line that `parseFacts` reads. */
export function lineOfLost(
  { at, took, conversation, arguments: given, ...names }: LostCall,
  { toolset, original }: Pick<CallFact, 'toolset' | 'original'>,
): string {
  const named = (name: string): string => withoutSecrets(clipped(name, longestName));
  const { size } = approximateSize(given);
  return jsonLines([
    {
      outcome: 'lost',
      toolset,
      conversation,
      agent: named(names.agent),
      tool: named(names.tool),
      original,
      reason: lostCallReason,
      id: idStart,
      at,
      calls: [nextNumber++, 0, took, size, 0],
    },
  ]);
}
