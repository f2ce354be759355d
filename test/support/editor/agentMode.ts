/**
 * The editor's own agent mode for tests inside the extension host. It is the built-in Copilot Chat
 * without a sign-in, with the language model of the helper extension `scripted-model`. For suites
 * with the option `"agentMode": true`.
 */
import * as vscode from 'vscode';
import { approveCalls } from './approveCalls.ts';
import { call, page } from './bridge.ts';

/** A request to the scripted model. */
export interface ModelRequest {
  messages: {
    role: 'user' | 'assistant';
    text: string;
    calls: { callId: string; name: string; input: unknown }[];
    results: { callId: string; text: string }[];
  }[];
  tools: { name: string; description: string; inputSchema: unknown }[];
}

export interface Answer {
  /** The text of the agent's last turn: `RESULT <tool>: <text>` a line, see `scripted-model`. */
  text: string;
  /** The return value of the chat command. */
  raw: unknown;
}

interface ToolCall {
  tool: string;
  input?: unknown;
}

const enableLimitMs = 30_000;
const mostGreetings = 6;
const greetingLimitMs = 8_000;

/** Enables agent mode and the approval of every call without a question. Call it once a window. */
export async function enableAgentMode(): Promise<void> {
  await approveCalls(vscode);
  if (!agentIsThere()) {
    // Managing chat enables it. Tests do not need the page it opens.
    await vscode.commands.executeCommand('workbench.action.chat.manage');
    await until(agentIsThere, 'a tool of Copilot Chat');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  }
  await untilAsync(
    async () => (await vscode.lm.selectChatModels({ vendor: 'scripted' })).length > 0,
    'the scripted model',
  );
  await untilAnswering();
  // A question before the agent's registration may have left the sign-in dialog open.
  if ((await call('about', {})).desktop) return;
  await page.press('Escape');
  await page.waitFor('.monaco-dialog-modal-block', 'hidden');
}

/**
 * The agent is registered a moment after its tools. A question in between stays in the sign-in
 * dialog and is never answered. No event marks the registration, so this asks until an answer
 * arrives.
 */
async function untilAnswering(): Promise<void> {
  for (let attempt = 1; attempt <= mostGreetings; attempt++) {
    const limit = new Promise<undefined>((done) =>
      setTimeout(() => done(undefined), greetingLimitMs),
    );
    const answered = await Promise.race([ask('Are you there?').catch(() => undefined), limit]);
    if (answered) break;
    if (attempt === mostGreetings)
      throw new Error(`The agent did not answer ${mostGreetings} times`);
    await stop();
    await newChat();
  }
  await newChat();
  await forgetRequests();
}

/** Begins another conversation. */
export async function newChat(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.chat.newChat');
}

/** Sends a question to the agent in the current conversation and waits for the end of its turn. */
export async function ask(query: string): Promise<Answer> {
  const raw = await vscode.commands.executeCommand<AgentResult | undefined>(
    'workbench.action.chat.open',
    {
      query,
      mode: 'agent',
      blockOnResponse: true,
      modelSelector: { vendor: 'scripted', id: 'scripted-1' },
    },
  );
  if (raw?.type === 'confirmation') throw new Error('The agent waits for a confirmation');
  return { text: raw?.metadata?.toolCallRounds?.at(-1)?.response ?? '', raw };
}

/**
 * A question that makes the scripted model call tools. Calls of a round run in parallel, and rounds
 * run one after another.
 */
export function calls(...rounds: (ToolCall | ToolCall[])[]): string {
  return rounds
    .map((round) =>
      [round]
        .flat()
        .map((call) => `CALL ${JSON.stringify(call)}`)
        .join(' '),
    )
    .join(' THEN ');
}

/** Presses the stop button of the current conversation. */
export async function stop(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.chat.cancel');
}

/**
 * The requests to the model since the last `forgetRequests`, oldest first, without requests that
 * offer no tools.
 */
export async function modelRequests(): Promise<ModelRequest[]> {
  const all = await vscode.commands.executeCommand<ModelRequest[]>('scriptedModel.lastRequests');
  return all.filter(({ tools }) => tools.length > 0);
}

export async function forgetRequests(): Promise<void> {
  await vscode.commands.executeCommand('scriptedModel.forget');
}

interface AgentResult {
  type?: string;
  metadata?: { toolCallRounds?: { response: string }[] };
}

function agentIsThere(): boolean {
  return vscode.lm.tools.some(({ name }) => name.startsWith('copilot_'));
}

function until(condition: () => boolean, what: string): Promise<void> {
  return untilAsync(() => Promise.resolve(condition()), what);
}

async function untilAsync(condition: () => Promise<boolean>, what: string): Promise<void> {
  const limit = Date.now() + enableLimitMs;
  while (!(await condition())) {
    if (Date.now() > limit) throw new Error(`Waited ${enableLimitMs} ms for ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
