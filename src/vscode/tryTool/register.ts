/**
 * Registers *Try Tool* for the sidebar and the palette (E3). The first panel loads the code of
 * panels.
 */
import { said } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { inert } from '../../core/base/inert.js';
import { isObject } from '../../core/base/isObject.js';
import { firstLine } from '../../core/base/text.js';
import { choose, commands, tell, window } from '../views/inertEditor.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { whyNone } from '../views/phrases.js';
import { nodeOf, serverOf, type Subject } from '../views/rows/subject.js';
import type { KeptTrial } from '../../webview/messages.js';
import type { Panels, TryToolDeps } from './panels.js';

export function registerTryTool(deps: TryToolDeps): vscode.Disposable {
  let loading: Promise<Panels> | undefined;
  const panels = (): Promise<Panels> =>
    (loading ??= import('./panels.js').then(({ Panels }) => new Panels(deps)));
  return vscode.Disposable.from(
    { dispose: () => loading?.then((loaded) => loaded.dispose()) },
    vscode.window.registerWebviewPanelSerializer('mcpToolsets.tryTool', {
      deserializeWebviewPanel: async (panel, kept: KeptTrial | undefined) =>
        (await panels()).revive(panel, kept),
    }),
    commands({
      tryTool: async (subject, published, given) => {
        const found = await toolOf(deps.slot, subject, published);
        if (found)
          (await panels()).show(found.server, found.tool, isObject(given) ? given : undefined);
      },
      openApp: async (name) => {
        const app =
          typeof name === 'string' ? deps.slot.engine?.conversationTools.app(name) : undefined;
        if (!app) return tell(inert`This app is no longer kept. Ask for it again in the chat.`);
        const wrong = await (await panels()).showApp(app);
        if (wrong === undefined) return;
        void window.showWarningMessage(
          inert`The app of ${app.tool.published} cannot be shown: ${wrong}.`,
        );
      },
    }),
  );
}

/** @param published the published name of a tool, if `subject` is the id of a server */
async function toolOf(slot: EngineSlot, subject: Subject, published: unknown) {
  const all = slot.state.snapshot.servers.flatMap((server) =>
    server.tools.map((tool) => ({ server, tool })),
  );
  const name = nodeOf(subject)?.name ?? (typeof published === 'string' ? published : undefined);
  const id = serverOf(subject);
  const named = all.find(({ server, tool }) => server.id === id && tool.published === name);
  if (named || name !== undefined) return named;
  const choices = all.filter(({ server }) => id === undefined || server.id === id);
  if (choices.length === 0)
    return tell(inert`${whyNone(slot.state, said`No MCP server publishes a tool now.`)}`);
  const options = {
    placeHolder: inert`Choose a tool to try`,
    matchOnDescription: true,
    matchOnDetail: true,
  };
  return choose(choices, options, ({ server, tool }) => ({
    label: inert`${tool.published}`,
    description: inert`${server.id}`,
    detail: inert`${firstLine(tool.tool.description ?? '')}`,
  }));
}
