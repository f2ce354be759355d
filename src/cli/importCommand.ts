/** `mcp-toolsets import`: shows the change by an import of another program's file, and writes it on request. */
import { homedir } from 'node:os';
import path from 'node:path';
import { markedAs, withoutMark } from '../core/base/byteOrderMark.js';
import { utf8OrUtf16 } from '../core/base/textFile.js';
import { importFormats, isOfEditor } from '../core/import/dialects.js';
import { planImport } from '../core/import/plan.js';
import { mindsPath } from '../core/config/sources.js';
import { writeInside } from '../core/files/realFiles.js';
import { textIfThere } from './configFile.js';
import { lineDifference } from './lineDifference.js';
import type { Options, Words } from './options.js';
import { complain, complainLines, misuse, print, reasonOf, toJson } from './output.js';
import type { Run } from './withHost.js';

export function importFile({ folder, json }: Run, [file = '']: Words, { format: formatName, write }: Options): number {
  const format = importFormats.find((known) => known === formatName);
  if (formatName !== undefined && !format) {
    return misuse(`Unknown format "${formatName}". Known formats: ${importFormats.join(', ')}.`);
  }
  const source = path.resolve(file);
  const target = path.join(folder, mindsPath);
  try {
    const [text, config] = [textIfThere(source, utf8OrUtf16), textIfThere(target)];
    if (text === undefined) return complain(`Nothing was imported: there is no file ${file}.`);
    const plan = planImport({
      text,
      file: source,
      label: file,
      format,
      config: config && withoutMark(config),
      isOfEditor: isOfEditor(source, [folder]),
      valueOf: (name, isInput) => (isInput ? process.env[name] : undefined),
      folders: { folder, home: homedir() },
    });
    if (plan.kind === 'impossible') return complain(`Nothing was imported: ${plan.reason}.`);
    const { edits, report, imported } = plan;
    const before = config ?? '';
    const after = edits.length === 0 ? before : markedAs(before, plan.after);
    const isChange = after !== before;
    if (write && isChange) writeInside(folder, target, { before, after });
    if (json) print(toJson(imported));
    else {
      if (isChange) print(lineDifference(before, after, mindsPath));
      complainLines(report.trimEnd());
      if (isChange) complainLines(write ? `\nWrote ${target}.` : '\nNothing is written yet. Add --write to write it.');
    }
    return imported.servers.length > 0 ? 0 : 1;
  } catch (error) {
    return complain(`Nothing was imported: ${reasonOf(error)}.`);
  }
}
