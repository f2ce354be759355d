/**
 * Plans an import as a change of the config file, with a report for the person. Everything here is
 * pure.
 */
import { addServers } from '../config/edit/addServers.js';
import { oneLine } from '../base/inert.js';
import { english, plural, said, translated } from '../base/language.js';
import { commaList } from '../base/text.js';
import { applyEdits } from '../yaml/edits.js';
import { serverValues } from '../config/edit/serverEdits.js';
import type { Imported, ImportNote, Plan } from './imported.js';
import { importServers, type ImportRequest } from './importServers.js';
import { code } from './translate.js';
import type { Held } from './values.js';

type ImportPlan = Plan<{ readonly imported: Imported }>;

interface PlanRequest extends Omit<ImportRequest, 'existing' | 'held'> {
  readonly label: string;
  /**
   * The text of `.minds/mcp.yaml` without a byte order mark; undefined if the file does not exist.
   */
  readonly config: string | undefined;
  /** The texts under it, if it is a layer (C7): over their ids, a server would be joined with theirs. */
  readonly below?: readonly string[];
  /** True if the editor starts the servers of this file too (G3i). */
  readonly isOfEditor: boolean;
  readonly valueOf: Held;
}

export function planImport({
  config = '',
  below = [],
  label,
  isOfEditor,
  valueOf,
  ...request
}: PlanRequest): ImportPlan {
  const texts = [...below, config];
  const imported = importServers({
    ...request,
    existing: new Map(texts.flatMap((text) => [...(serverValues(text) ?? [])])),
    held: heldIn(texts, valueOf),
  });
  if (imported.kind === 'unreadable')
    return { kind: 'impossible', reason: english`${label}: ${imported.reason}` };
  const edits = addServers(config, imported.servers);
  if (!edits) {
    const reason = serverValues(config)
      ? 'no server can be added below `servers` of the config file. Write its servers there, not an alias or a merge key'
      : 'the config file has errors, which have to be corrected first';
    return { kind: 'impossible', reason };
  }
  const after = applyEdits(config, edits);
  return {
    kind: 'planned',
    imported,
    edits,
    after,
    report: reportText(label, imported, isOfEditor),
  };
}

/**
 * The value of a name in these config files counts as unknown, because it may come from another
 * place later.
 */
export function heldIn(texts: readonly string[], valueOf: Held): Held {
  const servers = texts.flatMap((text) => [...(serverValues(text)?.values() ?? [])]);
  const names = new Set(servers.flatMap(namesIn));
  return (name, isInput) => (names.has(name) ? '' : valueOf(name, isInput));
}

function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) =>
    typeof item === 'string' && (key === 'env' || key === 'secret') ? [item] : namesIn(item),
  );
}

const headings: readonly (readonly [ImportNote['kind'], string])[] = [
  ['set', 'To do before they start'],
  ['changed', 'Written in another way'],
  ['lost', 'Not carried over'],
  ['skipped', 'Not imported'],
];

/**
 * Returns the report of an import in Markdown, for terminals too, in the language of the person.
 * @param file its name for a person
 */
export function reportText(file: string, { servers, notes }: Imported, isOfEditor = false): string {
  const ids = commaList(
    servers.map(({ id }) => code(id)),
    said,
  );
  const section = (heading: string, items: readonly string[]): string[] =>
    items.length === 0
      ? []
      : ['', `## ${translated(heading)}`, '', ...items.map((item) => `- ${item}`)];
  const after =
    isOfEditor && servers.length > 0
      ? [
          said`Remove these servers from ${file}. As long as they are there, the editor uses them, not the toolsets.`,
        ]
      : [];
  const textOf = ({ server, message }: ImportNote): string =>
    server === undefined ? translated(message) : said`${code(server)}: ${translated(message)}`;
  const lines = [
    servers.length === 0
      ? said`Nothing to import from ${file}.`
      : plural(servers.length, '1 server from {1}: {2}.', '{0} servers from {1}: {2}.', file, ids),
    ...section('To do after the import', after),
    ...headings.flatMap(([kind, heading]) =>
      section(heading, notes.filter((note) => note.kind === kind).map(textOf)),
    ),
  ];
  // Names and values of the file may have line breaks.
  return `${lines.map(oneLine).join('\n')}\n`;
}
