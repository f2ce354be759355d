/** Fills the Problems view (E1) with the problems of the snapshot. */
import * as vscode from 'vscode';
import { isDeepStrictEqual } from 'node:util';
import type { Disposable } from '../../../core/base/disposables.js';
import type { Severity } from '../../../core/base/problem.js';
import { diagnosticsByFile, type DiagnosticModel } from './problemTexts.js';
import type { EngineSlot } from '../../engine/engineSlot.js';
import { Diagnostic, DiagnosticRelatedInformation } from '../inertEditor.js';
import { toLocation, toRange } from '../places.js';
import { pageOf } from './problemPages.js';

export const diagnosticSource = 'MCP Toolsets';

export function showDiagnostics(slot: EngineSlot): Disposable {
  const collection = vscode.languages.createDiagnosticCollection('mcpToolsets');
  let shown: ReadonlyMap<string, readonly DiagnosticModel[]> = new Map();
  const listening = slot.onDidChange(({ snapshot }) => {
    const next = diagnosticsByFile(snapshot.problems);
    for (const file of shown.keys()) if (!next.has(file)) collection.delete(vscode.Uri.file(file));
    for (const [file, models] of next) {
      if (!isDeepStrictEqual(models, shown.get(file))) collection.set(vscode.Uri.file(file), models.map(toDiagnostic));
    }
    shown = next;
  });
  return vscode.Disposable.from(collection, listening);
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
