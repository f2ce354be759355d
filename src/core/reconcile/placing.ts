/**
 * Decides whom a list of an instance is for (G3g). Pure. Everyone without an own list gets the
 * common one.
 *
 * | instance | first list | changed list |
 * |---|---|---|
 * | shared or warm | everyone | everyone |
 * | leased by a client without a conversation | everyone | everyone |
 * | leased by a conversation | everyone, if it declares the same | its conversation |
 * | spare | nobody yet, until it is taken | everyone, if it declares the same |
 *
 * "The same" are the capabilities that were declared for the common list.
 */
import type { InstanceUse } from '../instances/instance.js';

/** `start`: the first list of an instance, or of a spare instance that a conversation has taken. */
export type ListCause = 'start' | 'change';

export interface GivenList {
  readonly cause: ListCause;
  readonly use: InstanceUse['kind'];
  /** True if the client of its instance has a conversation. */
  readonly hasConversation: boolean;
  /** True if its instance declares what the instance of the common list did. */
  readonly declaresSame: boolean;
}

export function isForEveryone(list: GivenList): boolean {
  const { cause, use, hasConversation, declaresSame } = list;
  switch (use) {
    case 'leased':
      return !hasConversation || (cause === 'start' && declaresSame);
    // The next conversation is expected to be like the last. Others may be offered something else.
    case 'spare':
      return cause === 'change' && declaresSame;
    case 'shared':
    case 'warm':
    case 'draining':
      return true;
  }
}

export interface ComparedList extends GivenList {
  /** True if its instance gave the same list before. */
  readonly isSame: boolean;
  /** True if it is the common list already. */
  readonly isCommon: boolean;
  /** True if it gives two tools one name. */
  readonly isRefused: boolean;
  /**
   * True if the newest list for everyone was refused. No list counts as the same then, because any
   * may take its place.
   */
  readonly isOneRefused: boolean;
}

export type Place =
  | 'common'
  /** Only the conversation of its instance gets it. */
  | 'own'
  /** It would be common. The common list stays until other transforms or another list come. */
  | 'refused'
  /** Its conversation gets the common list. */
  | 'ownRefused'
  /** It is the common list again, so an earlier fault is over. */
  | 'confirmed'
  /** Its conversation has the same list as before. */
  | 'unchanged';

export function placeOf(list: ComparedList): Place {
  const { cause, isRefused } = list;
  const isSame = list.isSame && cause === 'change' && !list.isOneRefused;
  if (!isForEveryone(list)) {
    if (isSame) return 'unchanged';
    return isRefused ? 'ownRefused' : 'own';
  }
  if (isSame && list.isCommon) return 'confirmed';
  return isRefused ? 'refused' : 'common';
}
