/**
 * Fills the Problems view (E1). Diagnostics link to pages of their codes, because only the Problems
 * view runs commands.
 */
import * as vscode from 'vscode';
import { isDeepStrictEqual } from 'node:util';
import { groupedBy } from '../../../core/base/groupedBy.js';
import { inert } from '../../../core/base/inert.js';
import type { Problem, Severity } from '../../../core/base/problem.js';
import type { EngineSlot } from '../../engine/engineSlot.js';
import { choose, commands, Diagnostic, DiagnosticRelatedInformation } from '../inertEditor.js';
import { toLocation, toRange } from '../places.js';
import { explanation, plainText } from './problemTexts.js';

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
  const text = plainText(`${message.trimEnd()}\n${fix}`);
  const diagnostic = new Diagnostic(toRange(place.range), text, severities[severity]);
  diagnostic.source = diagnosticSource;
  diagnostic.code = { value: code, target: vscode.Uri.from({ scheme, path: `/${code}.md` }) };
  diagnostic.relatedInformation = related.map(
    (other) => new DiagnosticRelatedInformation(toLocation(other.place), plainText(other.message)),
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
  const docs = vscode.Uri.joinPath(extensionUri, 'docs');
  const security = 'SECURITY.md';
  const read = async (name: string): Promise<string> => {
    const file = vscode.Uri.joinPath(name === security ? extensionUri : docs, name);
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  };
  const openDocumentation = async (): Promise<void> => {
    const names = (await vscode.workspace.fs.readDirectory(docs)).map(([name]) => name);
    const pages = [...names.sort(), security].map(async (name) => {
      const title = /^# (.+)/.exec(await read(name))?.[1] ?? name;
      return { title: title.replaceAll('`', ''), name };
    });
    const options = { placeHolder: inert`Choose a page` };
    const page = await choose(await Promise.all(pages), options, ({ title }) => ({
      label: inert`${title}`,
    }));
    if (page)
      await vscode.commands.executeCommand(
        'vscode.open',
        vscode.Uri.from({ scheme, path: `/${page.name}` }),
      );
  };
  const provider = vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: async ({ path }) => {
      const name = /^\/([\w-]+\.md)$/.exec(path)?.[1];
      if (name === undefined) return undefined;
      const code = name.slice(0, -'.md'.length);
      const problems = await read('problems.md');
      return problems.includes(`<a id="${code}">`) ? explanation(problems, code) : read(name);
    },
  });
  return vscode.Disposable.from(provider, commands({ openDocumentation }));
}
