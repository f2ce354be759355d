/**
 * Turns another program's file into entries of `.minds/mcp.yaml` (C6). No text makes it throw; ids are valid, unique
 * and free; every value of the servers is translated or named in a note.
 */
import { withoutSecrets } from '../base/secrets.js';
import { clipped } from '../base/text.js';
import { leadsBackHere } from './ownEndpoint.js';
import type { Syntax } from '../config/foreignReferences.js';
import { builtInToolset } from '../config/model.js';
import {
  dialects,
  formatOfContent,
  formatOfPath,
  unknownProgram,
  type Dialect,
  type ImportFormat,
} from './dialects.js';
import { serversIn } from './forms.js';
import type { Import, ImportedEntry, ImportedServer, ImportFolders, ImportNote } from './imported.js';
import { readSource, type SourceForm } from './readSource.js';
import { translate } from './translate.js';
import { Variables, type Held } from './values.js';

export interface ImportRequest {
  readonly text: string;
  readonly file: string;
  /** If undefined, the name and the content of the file decide. */
  readonly format?: ImportFormat | undefined;
  readonly taken: ReadonlySet<string>;
  readonly isThere?: (id: string, entry: ImportedEntry) => boolean;
  /** The names of variables and secrets that a new one must not get, unless it has the same value. */
  readonly held?: Held;
  /** Returns the names in an entry of the config file. */
  readonly namesOf?: (id: string) => readonly string[];
  readonly folders: ImportFolders;
}

export function importServers(request: ImportRequest): Import {
  const variables = new Variables(request.held);
  const found = importWith(request, variables);
  const { referred } = variables;
  // A reference may come after the new name that it needs.
  if (![...referred].some((name) => variables.isNew(name))) return found;
  const held: Held = (name, isInput) => (referred.has(name) ? '' : request.held?.(name, isInput));
  return importWith({ ...request, held }, new Variables(held));
}

function importWith(request: ImportRequest, variables: Variables): Import {
  const { text, file, format: given, taken, isThere, held, namesOf = () => [], folders } = request;
  const named = given ?? formatOfPath(file);
  const form = formOf(file) ?? formOf(named === undefined ? '' : (dialects[named].files[0] ?? ''));
  const reading = readSource(text, form ?? 'json');
  if (reading.kind === 'unreadable') {
    return named === undefined && form === undefined ? unknownFile(`${reading.reason}, and`) : reading;
  }
  const format = named ?? formatOfContent(reading.root);
  const dialect: Dialect = format === undefined ? unknownProgram : dialects[format];
  const found = serversIn(reading.root, dialect, folders);
  if (format === undefined && !found.isKnown) return unknownFile('');
  const notes: ImportNote[] = [
    ...reading.twice.map((key): ImportNote => ({
      kind: 'changed',
      message: `\`${clipped(key, 100)}\` is written twice, and the last one is used.`,
    })),
    ...found.notes,
  ];
  const servers: ImportedServer[] = [];
  const references: readonly Syntax[] =
    found.inputs.size > 0 ? [...dialect.references, '${input:ID}'] : dialect.references;
  const about = { dialect: { ...dialect, references }, inputs: found.inputs, folders };
  const context = { ...about, variables };
  const ids = new Set(taken);
  for (const { id: written, raw } of found.servers) {
    if (leadsBackHere(raw)) {
      notes.push({ kind: 'skipped', message: `\`${written}\`: it leads to a toolset of MCP Toolsets itself.` });
      continue;
    }
    // Names of variables contain the id, so each id is compared with its own translation.
    const there = idsFor(written, taken).held.find((id) => {
      const { entry } = translate(id, raw, { ...about, variables: new Variables(held, namesOf(id)) });
      return entry && isThere?.(id, entry);
    });
    if (there !== undefined) {
      const as = there === written ? '' : `, as \`${there}\``;
      notes.push({ kind: 'skipped', message: `\`${written}\`: the file has it already${as}.` });
      continue;
    }
    const id = idsFor(written, ids).free;
    const translation = translate(id, raw, context);
    if (translation.entry) {
      ids.add(id);
      if (id !== written) notes.push({ kind: 'changed', server: id, message: renamed(written, taken) });
      servers.push({ id, written, entry: translation.entry });
    }
    for (const note of translation.notes) notes.push(note);
  }
  if (servers.length === 0 && notes.length === 0) {
    notes.push({ kind: 'skipped', message: `The file has no servers in the form of ${dialect.program}.` });
  }
  // Notes quote the file.
  const shown = notes.map((note) => ({ ...note, message: withoutSecrets(note.message) }));
  const written = JSON.stringify(servers);
  const secrets = [...context.variables.secrets].filter(([name]) => written.includes(`"secret":"${name}"`));
  return { kind: 'imported', servers, notes: shown, secrets: new Map(secrets) };
}

function formOf(file: string): SourceForm | undefined {
  const [, ending = ''] = /\.(\w+)$/.exec(file.toLowerCase()) ?? [];
  if (/^jsonc?$/.test(ending)) return 'json';
  return ending === 'toml' ? 'toml' : /^ya?ml$/.test(ending) ? 'yaml' : undefined;
}

function unknownFile(before: string): Import {
  const programs = Object.values<Dialect>(dialects).map(({ program }) => program);
  const reason = `${before} it is not clear which program it belongs to. Files of ${programs.slice(0, -1).join(', ')} and ${programs.at(-1)} are read; \`--format\` names one of them`;
  return { kind: 'unreadable', reason: reason.trim() };
}

/** Returns an entry of the person with its secrets replaced as in an import, or undefined if that is impossible. */
export function withSecretsApart(
  id: string,
  entry: Readonly<Record<string, unknown>>,
  folders: ImportFolders,
  held: Held,
): { readonly entry: ImportedEntry; readonly secrets: ReadonlyMap<string, string> } | undefined {
  const variables = new Variables(held);
  const made = translate(id, entry, { dialect: dialects['mcprc'], inputs: new Map(), folders, variables });
  return made.entry && { entry: made.entry, secrets: variables.secrets };
}

function renamed(written: string, taken: ReadonlySet<string>): string {
  const name = clipped(written, 64);
  if (taken.has(written)) return `it was \`${name}\`, which the file has already.`;
  return `it was \`${name}\`; ids are made of letters, digits, \`-\` and \`_\`, and are unique.`;
}

/** Beyond this number, a server of the same name in the config file is not compared. */
const mostHeld = 16;

/** Returns the first free id for a server, and the ids in the config file that an earlier import may have given it. */
function idsFor(written: string, taken: ReadonlySet<string>): { readonly free: string; readonly held: string[] } {
  const plain =
    written
      .replace(/[^a-zA-Z0-9_-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64) || 'server';
  const base = plain === builtInToolset ? `${plain}-imported` : plain;
  const held: string[] = [];
  let free = base;
  for (let number = 2; taken.has(free); number++) {
    held.push(free);
    free = `${base.slice(0, 60)}-${number}`;
  }
  return { free, held: held.slice(0, mostHeld) };
}
