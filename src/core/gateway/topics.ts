/** What a client can be told has changed, and who of a session knows which version of it. */
import { notificationMessage } from './jsonRpc.js';

export const topics = ['tools', 'prompts', 'resources'] as const;

export type Topic = (typeof topics)[number];

export const changedMessages: Readonly<Record<Topic, string>> = {
  tools: notificationMessage('notifications/tools/list_changed'),
  prompts: notificationMessage('notifications/prompts/list_changed'),
  resources: notificationMessage('notifications/resources/list_changed'),
};

export interface Knowledge {
  /** The client has the list of this version, or is about to read it. */
  known: number;
  /** The client was told of the list of this version, on whatever stream. */
  told: number;
}
