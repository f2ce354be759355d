/** Registers the completion in `.minds/team.yaml` (D2). The code that does the work is loaded when the editor first asks. */
import * as vscode from 'vscode';
import { inert } from '../../core/base/inert.js';
import { CompletionItem } from '../views/inertEditor.js';
import type { Disposable } from '../../core/base/disposables.js';
import { configuredToolsets } from '../../core/host/conversationTools.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { toolCount } from '../views/phrases.js';
import { teamPath } from './teamFiles.js';

export function registerTeamAuthoring(slot: EngineSlot): Disposable {
  const files: vscode.DocumentSelector = { scheme: 'file', pattern: `**/${teamPath}` };
  return vscode.languages.registerCompletionItemProvider(
    files,
    {
      provideCompletionItems: async (document, position) => {
        const { completeTeam } = await import('../../core/team/teamCompletion.js');
        const toolsets = slot.engine?.host.catalogue.toolsets ?? [];
        const known = configuredToolsets(slot.state.snapshot, toolsets).map(({ id, down }) => {
          const count = toolsets.find((toolset) => toolset.id === id)?.tools.length ?? 0;
          return { id, state: down ?? toolCount(count, count) };
        });
        return completeTeam(document.getText(), document.offsetAt(position), known).map((found, index) => {
          const kind = found.insert.includes(':')
            ? vscode.CompletionItemKind.Property
            : vscode.CompletionItemKind.Value;
          const item = new CompletionItem({ label: inert`${found.label}`, description: inert`${found.detail}` }, kind);
          item.insertText = found.insert;
          item.range = new vscode.Range(document.positionAt(found.span.start), document.positionAt(found.span.end));
          item.filterText = document.getText(item.range).startsWith("'") ? found.insert : found.label;
          item.sortText = String(index).padStart(4, '0');
          return item;
        });
      },
    },
    ...[' ', ':', "'", '"', '[', ',', '!'],
  );
}
