/** `mcp-toolsets import`: shows what an import of another program's file would change, and writes it when asked to. */
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
import { reasonOf } from './output.js';

export { importFormats };

interface ImportRun {
  /** The absolute path of the folder whose config file is meant. */
  readonly folder: string;
  /** The path, relative to where the command runs. */
  readonly file: string;
  readonly format: ImportFormat | undefined;
  readonly write: boolean;
}

type ImportOutcome = Exclude<ImportPlan, { kind: 'planned' }> | ImportDone;

interface ImportDone {
  readonly kind: 'done';
  readonly target: string;
  /** The difference as `diff -u` writes it; it is empty where there is nothing to change. */
  readonly difference: string;
  readonly report: string;
  readonly imported: Extract<ImportPlan, { kind: 'planned' }>['imported'];
}

export function isImportFormat(word: string): word is ImportFormat {
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
