/** `mcp-toolsets import`: shows the change by an import of another program's file, and writes it on request. */
import { homedir } from 'node:os';
import path from 'node:path';
import { markedAs, withoutMark } from '../core/base/byteOrderMark.js';
import { wholeUtf8 } from '../core/base/textFile.js';
import { importFormats, isOfEditor, type ImportFormat } from '../core/import/dialects.js';

import { planImport, type ImportPlan } from '../core/import/plan.js';
import { textOfBytes } from '../core/import/readSource.js';
import { mindsPath } from '../core/config/sources.js';
import { writeInside } from '../core/files/realFiles.js';
import { textIfThere } from './configFile.js';
import { lineDifference } from './lineDifference.js';
import { complain, complainLines, misuse, print, reasonOf, toJson } from './output.js';
import type { Run } from './withHost.js';

interface ImportRun {
  /** The absolute path of the folder with the config file. */
  readonly folder: string;
  /** Relative to the working directory. */
  readonly file: string;
  readonly format: ImportFormat | undefined;
  readonly write: boolean;
}

type ImportOutcome = Exclude<ImportPlan, { kind: 'planned' }> | ImportDone;

interface ImportDone {
  readonly kind: 'done';
  readonly target: string;
  /** The difference as `diff -u` writes it; empty without a change. */
  readonly difference: string;
  readonly report: string;
  readonly imported: Extract<ImportPlan, { kind: 'planned' }>['imported'];
}

interface ImportCommand {
  readonly file: string | undefined;
  readonly format: string | undefined;
  readonly write: boolean;
}

export function importFile({ folder, json }: Run, { file, format, write }: ImportCommand): number {
  if (file === undefined) return misuse('The name of a file is missing.');
  if (format !== undefined && !isImportFormat(format)) {
    return misuse(`Unknown format "${format}". Known formats: ${importFormats.join(', ')}.`);
  }
  const outcome = runImport({ folder, file, format, write });
  if (outcome.kind === 'impossible') return complain(`Nothing was imported: ${outcome.reason}.`);
  const { difference, report, imported, target } = outcome;
  if (json) print(toJson(imported));
  else {
    if (difference !== '') print(difference);
    complainLines(report.trimEnd());
    if (difference !== '')
      complainLines(write ? `\nWrote ${target}.` : '\nNothing is written yet. Add --write to write it.');
  }
  return imported.servers.length > 0 ? 0 : 1;
}

function isImportFormat(word: string): word is ImportFormat {
  return (importFormats as readonly string[]).includes(word);
}

export function runImport({ folder, file, format, write }: ImportRun): ImportOutcome {
  const target = path.join(folder, mindsPath);
  let text: string | undefined;
  let config: string | undefined;
  try {
    [text, config] = [textIfThere(path.resolve(file), textOfBytes), textIfThere(target, wholeUtf8)];
  } catch (error) {
    return { kind: 'impossible', reason: reasonOf(error) };
  }
  if (text === undefined) return { kind: 'impossible', reason: `there is no file ${file}` };
  const plan = planImport({
    text,
    file: path.resolve(file),
    label: file,
    format,
    config: config && withoutMark(config),
    isOfEditor: isOfEditor(path.resolve(file), [folder]),
    folders: { folder, home: homedir() },
  });
  if (plan.kind === 'impossible') return plan;
  const before = config ?? '';
  const after = plan.edits.length === 0 ? before : markedAs(before, plan.after);
  if (write && after !== before) {
    try {
      writeInside(folder, target, { before, after });
    } catch (error) {
      return { kind: 'impossible', reason: reasonOf(error) };
    }
  }
  const { report, imported } = plan;
  return { kind: 'done', target, difference: lineDifference(before, after, mindsPath), report, imported };
}
