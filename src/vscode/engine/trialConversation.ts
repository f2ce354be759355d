/**
 * Names the conversations of *Try Tool*. Each panel is a conversation, so that trying a tool uses an instance of its own (L1).
 * Everything here is pure.
 */
import { randomUUID } from 'node:crypto';

const prefix = 'try:';

export function newTrialConversation(): string {
  return `${prefix}${randomUUID()}`;
}

export function isTrial(conversation: string): boolean {
  return conversation.startsWith(prefix);
}
