/**
 * Opens a workspace with the installed extension, and prints its tools in the terminal, again after
 * each change. It uses the desktop if there is one. Otherwise it uses the server form: a hidden
 * window shows the tools until a person opens the printed address. From then on it follows the
 * person's window.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { repoRoot } from '../npm.mjs';
import { approveCalls } from '../editor/approveCalls.ts';
import type { BridgeServer } from '../editor/bridgeServer.ts';
import { undoAll, undoOnSignals } from '../editor/cleanup.ts';
import { findDesktop } from '../editor/desktop.ts';
import { startDesktop } from '../editor/desktopSession.ts';
import type { ExtensionHost } from '../editor/extensionHost.ts';
import { startEditor, type EditorOptions } from '../editor/launch.ts';
import { resultsDir } from '../editor/versions.ts';
import { copyWorkspace } from '../editor/workspaces.ts';
import { nextTools, table, type ReportedTool } from './tools.ts';

/** The limit for the toolsets of the workspace, in milliseconds. Servers may need a download. */
const toolsLimitMs = 120_000;
const hostLimitMs = 60_000;

interface Session {
  bridge: BridgeServer;
  /** The extension host of the first window, hidden in the server form. */
  host: ExtensionHost;
  /** Instructions for the person to see the editor. */
  notice: string;
  /** Closes the window that shows the workspace until a person opens one. */
  closeHiddenWindow(): Promise<void>;
  /** Prepares a window opened by a person. */
  welcome(host: ExtensionHost): Promise<void>;
  /** Settles when the editor is closed. */
  ended: Promise<unknown>;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { once: { type: 'boolean' } },
  });
  const source = realpathSync(
    resolve(positionals[0] ?? join(repoRoot, 'test/editor/workspaces/example')),
  );
  const once = values.once === true;
  const folder = once ? copyWorkspace(source).path : source;
  const session = await open(folder, once);
  const tools = await firstTools(session.host, folder);
  if (once) return callOne(session.host, tools);

  console.log(
    `\n${session.notice}\nThe file to edit: ${configOf(folder)}\nCtrl-C ends everything.`,
  );
  await Promise.race([session.ended, follow(session, folder, tools)]);
  return 0;
}

const nothing = (): Promise<void> => Promise.resolve();

async function open(folder: string, once: boolean): Promise<Session> {
  const options: EditorOptions = {
    product: 'installed',
    outputDir: join(resultsDir, 'start'),
    // The one call of `--once` has no person to ask.
    settings: { 'chat.tools.global.autoApprove': once },
  };
  const desktop = await findDesktop();
  if ('executable' in desktop) {
    console.log('Opening the desktop form of VS Code …');
    const { bridge, ended } = await startDesktop(desktop.executable, options, folder);
    const host = await bridge.nextHost(folder, new Set(), hostLimitMs);
    return {
      bridge,
      host,
      ended,
      notice: 'VS Code is open.',
      closeHiddenWindow: nothing,
      welcome: nothing,
    };
  }
  console.log(`Opening the server form of VS Code: ${desktop.reason}.`);
  const editor = await startEditor({ ...options, agentMode: true, allExtensions: true });
  const hidden = await editor.openWindow(folder);
  return {
    bridge: editor.bridge,
    host: await hidden.host(),
    ended: editor.server.ended,
    notice: [
      `VS Code is at ${editor.addressOf(folder)}`,
      'Its chat has the model "Scripted", which does what the question says, in agent mode for example:',
      '    CALL {"tool":"<name from the table>","input":{}}',
    ].join('\n'),
    closeHiddenWindow: () => hidden.close(),
    welcome: enableChat,
  };
}

/** Chat without an account, as in `agentMode.ts`, but with the questions before each call. */
async function enableChat(host: ExtensionHost): Promise<void> {
  await host.evaluate(async ({ commands, lm }) => {
    const there = (): boolean => lm.tools.some(({ name }) => name.startsWith('copilot_'));
    if (there()) return;
    await commands.executeCommand('workbench.action.chat.manage');
    for (let tries = 0; !there() && tries < 100; tries++)
      await new Promise((done) => setTimeout(done, 100));
    await commands.executeCommand('workbench.action.closeActiveEditor');
  });
}

/** Waits until every enabled server of the workspace has tools, and prints the table either way. */
async function firstTools(host: ExtensionHost, folder: string): Promise<ReportedTool[]> {
  const expected = toolsetsOf(folder);
  const limit = Date.now() + toolsLimitMs;
  let tools: ReportedTool[] = [];
  const missing = (): string[] =>
    expected.filter(
      (id) => !tools.some(({ toolset }) => toolset.toLowerCase() === id.toLowerCase()),
    );
  console.log(`Waiting for the tools of ${expected.join(', ') || 'no server'} …`);
  while (missing().length > 0 && Date.now() < limit) {
    const late = new Promise<undefined>((done) =>
      setTimeout(() => done(undefined), limit - Date.now()).unref(),
    );
    tools = (await Promise.race([nextTools(host, JSON.stringify(tools)), late])) ?? tools;
  }
  print(tools, expected, await host.evaluate(({ version }) => version));
  return tools;
}

/** Prints the table again after each change, in the person's latest window. */
async function follow(session: Session, folder: string, tools: ReportedTool[]): Promise<never> {
  const known = new Set([session.host]);
  let { host } = session;
  let before = JSON.stringify(tools);
  for (;;) {
    const another = session.bridge.nextHost(folder, known).then((next) => ({ next }));
    const change = nextTools(host, before).then((changed) => ({ changed }));
    const event = await Promise.race([another, change.catch(() => another)]);
    if ('next' in event) {
      host = event.next;
      known.add(host);
      before = '[]';
      await session.closeHiddenWindow();
      await session
        .welcome(host)
        .catch((error: unknown) => console.error('Chat could not be enabled:', error));
    } else {
      before = JSON.stringify(event.changed);
      print(
        event.changed,
        toolsetsOf(folder),
        await host.evaluate(({ version }) => version).catch(() => ''),
      );
    }
  }
}

/** Calls one tool through the editor's own API. */
async function callOne(host: ExtensionHost, tools: readonly ReportedTool[]): Promise<number> {
  const chosen =
    tools.find(({ tool }) => tool === 'echo') ??
    tools.find(({ inputSchema }) => !inputSchema.required?.length);
  if (!chosen) {
    console.error('No tool that can be called without knowing it.');
    return 1;
  }
  const input = Object.fromEntries(
    (chosen.inputSchema.required ?? []).map((name) => [name, 'Hello from npm start']),
  );
  console.log(`\nvscode.lm.invokeTool('${chosen.name}', ${JSON.stringify({ input })})`);
  await host.evaluate(approveCalls);
  const result = await host.evaluate(
    async (vscode, call) => {
      const { content } = await vscode.lm.invokeTool(call.name, {
        input: call.input,
        toolInvocationToken: undefined,
      });
      return content.map((part) =>
        part instanceof vscode.LanguageModelTextPart ? part.value : '[not text]',
      );
    },
    { name: chosen.name, input },
  );
  console.log(`→ ${result.join('\n  ')}`);
  return result.length > 0 ? 0 : 1;
}

function print(tools: readonly ReportedTool[], expected: readonly string[], version: string): void {
  const toolsets = new Set(tools.map(({ toolset }) => toolset)).size;
  const time = new Date().toLocaleTimeString();
  console.log(`\nVS Code ${version}, ${time}: toolsets ${toolsets}, tools ${tools.length}`);
  console.log(table(tools, expected));
}

function configOf(folder: string): string {
  return join(folder, '.minds/mcp.yaml');
}

/** The enabled servers of the workspace's file, or an empty list while the file does not parse. */
function toolsetsOf(folder: string): string[] {
  try {
    if (!existsSync(configOf(folder))) return [];
    const { servers } = parse(readFileSync(configOf(folder), 'utf8')) as {
      servers?: Record<string, { enabled?: boolean }>;
    };
    return Object.entries(servers ?? {}).flatMap(([id, server]) =>
      server?.enabled === false ? [] : [id],
    );
  } catch {
    return [];
  }
}

undoOnSignals();
main()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  })
  .then(async (code) => {
    await undoAll();
    process.exit(code);
  })
  .catch(() => process.exit(1));
