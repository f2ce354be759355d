import type * as vscode from 'vscode';
import type { Clock } from '../../core/base/clock.js';
import type { ConversationTitles } from './conversationTitles.js';
import type { EngineSlot } from './engineSlot.js';
import type { EnteredSecrets } from './enteredSecrets.js';
import type { Logs } from './logs.js';

export interface Shell {
  readonly context: vscode.ExtensionContext;
  readonly slot: EngineSlot;
  readonly clock: Clock;
  readonly logs: Logs;
  readonly secrets: EnteredSecrets;
  readonly titles: ConversationTitles;
  /** The storage folder of the workspace; undefined if no folder is open. */
  readonly storage: string | undefined;
}
