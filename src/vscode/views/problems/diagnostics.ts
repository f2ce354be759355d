/**
 * Fills the Problems view (E1). Diagnostics link to pages of their codes, because only the Problems
 * view runs commands.
 */
import { translated } from '../../../core/base/language.js';
import * as vscode from 'vscode';
import { isDeepStrictEqual } from 'node:util';
import { groupedBy } from '../../../core/base/groupedBy.js';
import type { Problem, Severity } from '../../../core/base/problem.js';
import type { EngineSlot } from '../../engine/engineSlot.js';
import { commands, Diagnostic, DiagnosticRelatedInformation } from '../inertEditor.js';
import { toLocation, toRange } from '../places.js';
import { plainText } from './problemTexts.js';

export const diagnosticSource = 'MCP Toolsets';

export function showDiagnostics(slot: EngineSlot): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('mcpToolsets');
  let shown: ReadonlyMap<string, readonly Problem[]> = new Map();
  const listening = slot.onDidChange(({ snapshot }) => {
    const next = groupedBy(snapshot.problems, ({ place }) => place.file);
    for (const file of shown.keys()) if (!next.has(file)) collection.delete(vscode.Uri.file(file));
    for (const [file, problems] of next) {
      if (isDeepStrictEqual(problems, shown.get(file))) continue;
      collection.set(vscode.Uri.file(file), problems.map(toDiagnostic));
    }
    shown = next;
  });
  return vscode.Disposable.from(collection, listening);
}

function toDiagnostic({
  place,
  message,
  fix,
  severity,
  code,
  related = [],
}: Problem): vscode.Diagnostic {
  const text = plainText(`${translated(message).trimEnd()}\n${translated(fix)}`);
  const diagnostic = new Diagnostic(toRange(place.range), text, severities[severity]);
  diagnostic.source = diagnosticSource;
  diagnostic.code = { value: code, target: vscode.Uri.from({ scheme, path: `/${code}.md` }) };
  diagnostic.relatedInformation = related.map(
    (other) =>
      new DiagnosticRelatedInformation(
        toLocation(other.place),
        plainText(translated(other.message)),
      ),
  );
  return diagnostic;
}

const severities: Readonly<Record<Severity, vscode.DiagnosticSeverity>> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
  hint: vscode.DiagnosticSeverity.Hint,
};

/** `package.json` has the same scheme. */
const scheme = 'mcp-toolsets-problem';

export function registerProblemPages(extensionUri: vscode.Uri): vscode.Disposable {
  const provider = vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: async ({ path }) => {
      const name = /^\/([\w-]+\.md)$/.exec(path)?.[1];
      return name && (await import('./pages.js')).pageOf(extensionUri, name);
    },
  });
  const openDocumentation = async (): Promise<void> => {
    const name = await (await import('./pages.js')).choosePage(extensionUri);
    if (name === undefined) return;
    const uri = vscode.Uri.from({ scheme, path: `/${name}` });
    await vscode.commands.executeCommand('vscode.open', uri);
  };
  return vscode.Disposable.from(provider, commands({ openDocumentation }));
}
