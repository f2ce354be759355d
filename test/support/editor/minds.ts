/**
 * `@minds` for tests inside the extension host, in agent mode with the scripted model, see
 * `agentMode.ts`.
 */
import * as vscode from 'vscode';
import { page } from './bridge.ts';

export interface MindsRecord {
  conversation: string;
  member?: string;
  end: string;
  messages: {
    kind: string;
    text?: string;
    calls?: { tool: string }[];
    results?: { tool: string; isError: boolean; parts: { text?: string }[] }[];
  }[];
}

export interface MindsAnswer {
  record: MindsRecord | undefined;
  /** The text of the error in the chat. */
  error: string | undefined;
  /** The last text of the model. */
  text: string;
}

interface ChatOutcome {
  metadata?: { mcpToolsets?: MindsRecord };
  errorDetails?: { message: string };
}

/**
 * Asks in the current conversation and waits for the end of the turn. A slash command goes before
 * the question.
 */
export async function askMinds(
  query: string,
  vendor = 'scripted',
  attachFiles: readonly vscode.Uri[] = [],
): Promise<MindsAnswer> {
  const raw = await vscode.commands.executeCommand<ChatOutcome | undefined>(
    'workbench.action.chat.open',
    {
      query: `@minds ${query}`,
      mode: 'agent',
      attachFiles,
      blockOnResponse: true,
      modelSelector: { vendor, id: `${vendor}-1` },
    },
  );
  const record = raw?.metadata?.mcpToolsets;
  const last = record?.messages.findLast(({ kind }) => kind === 'answer');
  return { record, error: raw?.errorDetails?.message, text: last?.text ?? '' };
}

/** The visible text of the last answer. */
export async function shown(): Promise<string> {
  return (await page.texts('.interactive-response')).at(-1) ?? '';
}

export interface Failure {
  message: string;
  /** The code of the `LanguageModelError`. */
  code?: string;
  /** The text before it fails. */
  after?: string;
}

export const failNext = (...failures: Failure[]): Thenable<void> =>
  vscode.commands.executeCommand('scriptedModel.failures', failures);

export const holdNext = (): Thenable<void> => vscode.commands.executeCommand('scriptedModel.hold');

export const beModel = (traits: {
  imageInput?: boolean;
  toolCalling?: boolean;
  maxInputTokens?: number;
  /** Also offered under the vendor `scripted-gemini`, whose refusals are known. */
  gemini?: boolean;
}): Thenable<void> => vscode.commands.executeCommand('scriptedModel.be', traits);
