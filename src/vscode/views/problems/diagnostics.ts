/** Fills the Problems view (E1) with the problems of the snapshot. */
import * as vscode from 'vscode';
import { isDeepStrictEqual } from 'node:util';
import { DisposableStore, type Disposable } from '../../../core/base/disposables.js';
import type { Place, Range, Severity } from '../../../core/base/problem.js';
import { diagnosticsByFile, type DiagnosticModel } from './problemTexts.js';
import type { EngineSlot } from '../../engine/engineSlot.js';
import { Diagnostic, DiagnosticRelatedInformation } from '../inertEditor.js';
import { pageOf } from './problemPages.js';

export const diagnosticSource = 'MCP Toolsets';

export function showDiagnostics(slot: EngineSlot): Disposable {
  const store = new DisposableStore('diagnostics');
  const collection = store.add(vscode.languages.createDiagnosticCollection('mcpToolsets'));
  let shown: ReadonlyMap<string, readonly DiagnosticModel[]> = new Map();
  store.add(
    slot.onDidChange(({ snapshot }) => {
      const next = diagnosticsByFile(snapshot.problems);
      for (const file of shown.keys()) if (!next.has(file)) collection.delete(vscode.Uri.file(file));
      for (const [file, models] of next) {
        if (!isDeepStrictEqual(models, shown.get(file)))
          collection.set(vscode.Uri.file(file), models.map(toDiagnostic));
      }
      shown = next;
    }),
  );
  return store;
}

function toDiagnostic(model: DiagnosticModel): vscode.Diagnostic {
  const diagnostic = new Diagnostic(toRange(model.range), model.message, severities[model.severity]);
  diagnostic.source = diagnosticSource;
  diagnostic.code = { value: model.code, target: pageOf(model.code) };
  if (model.related.length > 0) {
    diagnostic.relatedInformation = model.related.map(
      ({ message, place }) => new DiagnosticRelatedInformation(toLocation(place), message),
    );
  }
  return diagnostic;
}

const severities: Readonly<Record<Severity, vscode.DiagnosticSeverity>> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
  hint: vscode.DiagnosticSeverity.Hint,
};

export function toRange({ start, end }: Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

export function toLocation({ file, range }: Place): vscode.Location {
  return new vscode.Location(vscode.Uri.file(file), toRange(range));
}
