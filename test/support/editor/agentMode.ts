/**
 * The editor's own agent mode for tests inside the extension host: the built-in Copilot Chat, not signed in, with the
 * language model of the helper extension `scripted-model`. For suites with the option `"agentMode": true`.
 */
import * as vscode from 'vscode';
import { approveCalls } from './approveCalls.ts';
import { call, page } from './bridge.ts';

/** What the scripted model was sent. */
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
  /** What the chat command returned. */
  raw: unknown;
}

interface ToolCall {
  tool: string;
  input?: unknown;
}

const enableLimitMs = 30_000;
const mostGreetings = 6;
const greetingLimitMs = 8_000;

/** Enables agent mode and the approval of every call without a question. Once a window. */
export async function enableAgentMode(): Promise<void> {
  await approveCalls(vscode);
  if (!agentIsThere()) {
    // Managing chat enables it; the page that it opens is of no use here.
    await vscode.commands.executeCommand('workbench.action.chat.manage');
    await until(agentIsThere, 'a tool of Copilot Chat');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  }
  await untilAsync(
    async () => (await vscode.lm.selectChatModels({ vendor: 'scripted' })).length > 0,
    'the scripted model',
  );
  await untilAnswering();
  // What was asked before the agent was there may have left the dialog that would sign the person in.
  if ((await call('about', {})).desktop) return;
  await page.press('Escape');
  await page.waitFor('.monaco-dialog-modal-block', 'hidden');
}

/**
 * The agent is registered a moment after its tools, and what is asked in between stays in the dialog that would sign the
 * person in and is never answered. Nothing tells that moment, so it is asked until it answers.
 */
async function untilAnswering(): Promise<void> {
  for (let attempt = 1; attempt <= mostGreetings; attempt++) {
    const limit = new Promise<undefined>((done) => setTimeout(() => done(undefined), greetingLimitMs));
    const answered = await Promise.race([ask('Are you there?').catch(() => undefined), limit]);
    if (answered) break;
    if (attempt === mostGreetings) throw new Error(`The agent did not answer ${mostGreetings} times`);
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
  const raw = await vscode.commands.executeCommand<AgentResult | undefined>('workbench.action.chat.open', {
    query,
    mode: 'agent',
    blockOnResponse: true,
    modelSelector: { vendor: 'scripted', id: 'scripted-1' },
  });
  if (raw?.type === 'confirmation') throw new Error('The agent waits for a confirmation');
  return { text: raw?.metadata?.toolCallRounds?.at(-1)?.response ?? '', raw };
}

/** A question that makes the scripted model call tools: all of a round in parallel, one round after the other. */
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

/** What the model was sent since the last `forgetRequests`, oldest first, without requests that offer no tools. */
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
