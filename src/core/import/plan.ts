/** Plans an import as a change of the config file, with what a person should know before it is written. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { addServers, plainEntry } from '../config/addServers.js';
import { applyEdits, type TextEdit } from '../yaml/edits.js';
import { serverValues } from '../config/serverEdits.js';
import type { Import, ImportedEntry } from './imported.js';
import { importServers, type ImportRequest } from './importServers.js';
import { reportText } from './report.js';

export type ImportPlan =
  /** `reason` is a phrase. */
  | { readonly kind: 'impossible'; readonly reason: string }
  | {
      readonly kind: 'planned';
      readonly imported: Extract<Import, { kind: 'imported' }>;
      readonly edits: readonly TextEdit[];
      readonly after: string;
      /** Markdown. */
      readonly report: string;
    };

interface PlanRequest extends Omit<ImportRequest, 'taken' | 'isThere'> {
  /** How the file is written for a person. */
  readonly label: string;
  /** The text of `.minds/mcp.yaml` without a byte order mark; undefined where there is no file yet. */
  readonly config: string | undefined;
}

export function planImport({ config, label, ...request }: PlanRequest): ImportPlan {
  const existing = serverValues(config ?? '') ?? new Map<string, unknown>();
  const imported = importServers({
    ...request,
    taken: new Set(existing.keys()),
    isThere: (id: string, entry: ImportedEntry) => isDeepStrictEqual(existing.get(id), plainEntry(entry)),
  });
  if (imported.kind === 'unreadable') return { kind: 'impossible', reason: `${label}: ${imported.reason}` };
  const edits = addServers(config, imported.servers);
  if (!edits) return { kind: 'impossible', reason: 'the config file has errors, which have to be mended first' };
  const after = applyEdits(config ?? '', edits);
  return { kind: 'planned', imported, edits, after, report: reportText(label, imported) };
}
