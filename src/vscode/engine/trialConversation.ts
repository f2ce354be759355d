/** Names the conversations of *Try Tool*: each panel is a conversation and has an instance (L1). Pure. */
import { randomUUID } from 'node:crypto';

const prefix = 'try:';

export function newTrialConversation(): string {
  return `${prefix}${randomUUID()}`;
}

export function isTrial(conversation: string): boolean {
  return conversation.startsWith(prefix);
}
