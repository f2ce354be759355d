/**
 * Turns another program's file into entries (C6). Never throws; ids are free; every value is in an
 * entry or a note.
 */
import { isDeepStrictEqual } from 'node:util';
import { withoutSecrets } from '../base/secrets.js';
import { clipped } from '../base/text.js';
import { plainEntry } from '../config/edit/addServers.js';
import { leadsBackHere } from './ownEndpoint.js';
import { builtInToolset } from '../config/model.js';
import { dialects, formatOfContent, formatOfPath, unknownProgram } from './dialects.js';
import type { Dialect, ImportFormat } from './dialects.js';
import { serversIn } from './forms.js';
import type { Import, ImportedEntry, ImportedServer, ImportFolders } from './imported.js';
import { readSource, type SourceForm } from './readSource.js';
import { Translator } from './translate.js';
import { Variables, type Held } from './values.js';

export interface ImportRequest {
  readonly text: string;
  readonly file: string;
  /** If undefined, the name and the content of the file decide. */
  readonly format?: ImportFormat | undefined;
  readonly existing?: ReadonlyMap<string, unknown>;
  /**
   * The names of variables and secrets that a new one must not get, unless it has the same value.
   */
  readonly held?: Held;
  readonly folders: ImportFolders;
}

export function importServers(request: ImportRequest): Import {
  const variables = new Variables(request.held);
  const found = importWith(request, variables);
  const { referred } = variables;
  // A reference may come after the new name that it needs.
  if (![...referred].some((name) => variables.isNew(name))) return found;
  const held: Held = (name, isInput) => (referred.has(name) ? '' : request.held?.(name, isInput));
  return importWith(request, new Variables(held));
}

function importWith(request: ImportRequest, variables: Variables): Import {
  const {
    text,
    file,
    format: given,
    existing = new Map<string, unknown>(),
    held,
    folders,
  } = request;
  const named = given ?? formatOfPath(file);
  const form = formOf(file) ?? formOf(named === undefined ? '' : (dialects[named].files[0] ?? ''));
  const reading = readSource(text, form ?? 'json');
  if (typeof reading === 'string') {
    const isUnknown = named === undefined && form === undefined;
    return isUnknown ? unknownFile(`${reading}, and`) : { kind: 'unreadable', reason: reading };
  }
  const format = named ?? formatOfContent(reading.root);
  const row: Dialect = format === undefined ? unknownProgram : dialects[format];
  const { servers: written, inputs, isKnown, notes } = serversIn(reading.root, row, folders);
  if (format === undefined && !isKnown) return unknownFile('');
  const dialect =
    inputs.size > 0 ? { ...row, references: [...row.references, '${input:ID}' as const] } : row;
  for (const key of reading.twice.toReversed()) {
    notes.unshift({
      kind: 'changed',
      message: `\`${clipped(key, 100)}\` is written twice, and the last one is used.`,
    });
  }
  const servers: ImportedServer[] = [];
  const context = { dialect, inputs, folders, variables };
  const ids = new Set(existing.keys());
  for (const { id: name, raw } of written) {
    const skip = (why: string): void =>
      void notes.push({ kind: 'skipped', message: `\`${name}\`: ${why}.` });
    if (leadsBackHere(raw)) {
      skip('it leads to a toolset of MCP Toolsets itself');
      continue;
    }
    const trial = new Variables(held);
    const id = idsFor(name, ids).free;
    const wanted = new Translator(id, raw, { ...context, variables: trial }).translate();
    const there = idsFor(name, existing).held.find(
      (id) => wanted && isSame(existing.get(id), wanted, trial),
    );
    if (there !== undefined) {
      skip(`the file has it already${there === name ? '' : `, as \`${there}\``}`);
      continue;
    }
    const translator = new Translator(id, raw, context);
    const entry = translator.translate();
    if (entry) {
      ids.add(id);
      const rule = '; ids are made of letters, digits, `-` and `_`, and are unique.';
      const message = `it was \`${clipped(name, 64)}\`${existing.has(name) ? ', which the file has already.' : rule}`;
      if (id !== name) notes.push({ kind: 'changed', server: id, message });
      servers.push({ id, written: name, entry });
    }
    for (const note of translator.notes) notes.push(note);
  }
  if (servers.length === 0 && notes.length === 0) {
    notes.push({
      kind: 'skipped',
      message: `The file has no servers in the form of ${dialect.program}.`,
    });
  }
  // Notes quote the file.
  const shown = notes.map((note) => ({ ...note, message: withoutSecrets(note.message) }));
  const used = JSON.stringify(servers);
  const secrets = [...variables.secrets].filter(([secret]) =>
    used.includes(`"secret":"${secret}"`),
  );
  return { kind: 'imported', servers, notes: shown, secrets: new Map(secrets) };
}

/**
 * True if an earlier import wrote the entry, perhaps with other names or with variables in place of
 * secrets.
 */
function isSame(existing: unknown, entry: ImportedEntry, { referred }: Variables): boolean {
  const named = (key: string, value: unknown): unknown =>
    (key === 'env' || key === 'secret') &&
    typeof value === 'string' &&
    !referred.has(value.toUpperCase())
      ? ''
      : value;
  const [there, wanted] = [existing, plainEntry(entry)].map((each): unknown =>
    JSON.parse(JSON.stringify(each ?? null, named).replaceAll('"secret":', '"env":')),
  );
  return isDeepStrictEqual(there, wanted);
}

function formOf(file: string): SourceForm | undefined {
  const forms = { json: /\.jsonc?$/i, toml: /\.toml$/i, yaml: /\.ya?ml$/i };
  return (['json', 'toml', 'yaml'] as const).find((form) => forms[form].test(file));
}

function unknownFile(before: string): Import {
  const programs = Object.values<Dialect>(dialects).map(({ program }) => program);
  const reason = `${before} it is not clear which program it belongs to. Files of ${programs.slice(0, -1).join(', ')} and ${programs.at(-1)} are read; \`--format\` names one of them`;
  return { kind: 'unreadable', reason: reason.trim() };
}

/**
 * Returns an entry of the person with its secrets replaced as in an import, or undefined if that is
 * impossible.
 */
export function withSecretsApart(
  id: string,
  entry: Readonly<Record<string, unknown>>,
  folders: ImportFolders,
  held: Held,
) {
  const variables = new Variables(held);
  const context = { dialect: dialects['mcprc'], inputs: new Map(), folders, variables };
  const made = new Translator(id, entry, context).translate();
  return made && { entry: made, secrets: variables.secrets };
}

/**
 * Returns the first free id for a server, and the first 16 ids that an earlier import may have
 * given it.
 */
function idsFor(written: string, taken: Pick<ReadonlySet<string>, 'has'>) {
  const plain =
    written
      .replace(/[^a-zA-Z0-9_-]+/g, '-')
      .replace(/^-+|(?<!-)-+$/g, '')
      .slice(0, 64) || 'server';
  const base = plain === builtInToolset ? `${plain}-imported` : plain;
  const held: string[] = [];
  let free = base;
  for (let number = 2; taken.has(free); number++) {
    held.push(free);
    free = `${base.slice(0, 60)}-${number}`;
  }
  return { free, held: held.slice(0, 16) };
}
