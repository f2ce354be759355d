/**
 * Turns another program's file into entries (C6). Never throws; ids are free; every value is in an
 * entry or a note.
 */
import { isDeepStrictEqual } from 'node:util';
import { altered, english } from '../base/language.js';
import { withoutSecrets } from '../base/secrets.js';
import { clipped, commaList, andList } from '../base/text.js';
import { plainEntry } from '../config/edit/addServers.js';
import { leadsBackHere } from './ownEndpoint.js';
import { builtInToolset } from '../config/model.js';
import {
  dialects,
  formatOfContent,
  formatOfPath,
  unknownProgram,
  type Dialect,
  type ImportFormat,
} from './dialects.js';
import { serversIn, type RawServer } from './forms.js';
import type {
  Import,
  ImportedEntry,
  ImportedServer,
  ImportFolders,
  ImportNote,
} from './imported.js';
import { readSource, type SourceForm } from './readSource.js';
import { code, Translator } from './translate.js';
import { Variables, type Held, type TranslationContext } from './values.js';

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
  const found = findServers(request);
  if (found.kind === 'unreadable') return found;
  const { dialect, inputs, written, notes } = found;
  const { existing = none, folders } = request;
  const context = {
    dialect,
    inputs,
    folders,
    variables,
  };
  const importing = {
    request,
    context,
    ids: new Set(existing.keys()),
  };
  const servers: ImportedServer[] = [];
  for (const one of written) {
    const imported = importOne(one, importing);
    if (imported.server) servers.push(imported.server);
    for (const note of imported.notes) notes.push(note);
  }
  if (servers.length === 0 && notes.length === 0) {
    const message = english`The file has no servers in the form of ${dialect.program}.`;
    notes.push({ kind: 'skipped', message });
  }
  // Notes quote the file.
  const shown = notes.map((note) => ({ ...note, message: altered(note.message, withoutSecrets) }));
  const used = JSON.stringify(servers);
  const secrets = [...variables.secrets].filter(([secret]) =>
    used.includes(`"secret":"${secret}"`),
  );
  return {
    kind: 'imported',
    servers,
    notes: shown,
    secrets: new Map(secrets),
  };
}

const none: ReadonlyMap<string, unknown> = new Map();

function findServers({ text, file, format: given, folders }: ImportRequest) {
  const named = given ?? formatOfPath(file);
  const form = formOf(file) ?? formOf(named === undefined ? '' : (dialects[named].files[0] ?? ''));
  const reading = readSource(text, form ?? 'json');
  if (typeof reading === 'string') {
    const isUnknown = named === undefined && form === undefined;
    return isUnknown ? unknownFile(reading) : unreadable(reading);
  }
  const format = named ?? formatOfContent(reading.root);
  const row: Dialect = format === undefined ? unknownProgram : dialects[format];
  const { servers: written, inputs, isKnown, notes } = serversIn(reading.root, row, folders);
  if (format === undefined && !isKnown) return unknownFile();
  const twice = reading.twice.map((key): ImportNote => {
    const message = english`\`${clipped(key, 100)}\` is written twice, and the last one is used.`;
    return { kind: 'changed', message };
  });
  const references = [...row.references, '${input:ID}' as const];
  const dialect = inputs.size > 0 ? { ...row, references } : row;
  const kind = 'found' as const;
  return {
    kind,
    written,
    inputs,
    dialect,
    notes: [...twice, ...notes],
  };
}

interface Importing {
  readonly request: ImportRequest;
  readonly context: TranslationContext;
  /** The ids of the config file and of the servers so far. */
  readonly ids: Set<string>;
}

interface ImportedOne {
  readonly server?: ImportedServer;
  readonly notes: readonly ImportNote[];
}

function importOne({ id: name, raw }: RawServer, importing: Importing): ImportedOne {
  const { request, context, ids } = importing;
  const skipped = (why: string): ImportedOne => ({
    notes: [{ kind: 'skipped', message: english`${code(name)}: ${why}` }],
  });
  if (leadsBackHere(raw)) return skipped('it leads to a toolset of MCP Toolsets itself.');
  const id = idsFor(name, ids).free;
  const { existing = none, held } = request;
  const trial = new Variables(held);
  const wanted = new Translator(id, raw, { ...context, variables: trial }).translate();
  const isThere = (one: string): boolean => !!wanted && isSame(existing.get(one), wanted, trial);
  const there = idsFor(name, existing).held.find(isThere);
  if (there !== undefined)
    return skipped(
      there === name
        ? 'it is configured already.'
        : english`it is configured already, as \`${there}\`.`,
    );
  const translator = new Translator(id, raw, context);
  const entry = translator.translate();
  const { notes } = translator;
  if (!entry) return { notes };
  ids.add(id);
  const server = {
    id,
    written: name,
    entry,
  };
  if (id === name) return { server, notes };
  const was = clipped(name, 64);
  const message = existing.has(name)
    ? english`it was \`${was}\`, which is taken.`
    : english`it was \`${was}\`; ids are made of letters, digits, \`-\` and \`_\`, and are unique.`;
  return {
    server,
    notes: [
      {
        kind: 'changed',
        server: id,
        message,
      },
      ...notes,
    ],
  };
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
  const forms = {
    json: /\.jsonc?$/i,
    toml: /\.toml$/i,
    yaml: /\.ya?ml$/i,
  };
  return (['json', 'toml', 'yaml'] as const).find((form) => forms[form].test(file));
}

function unreadable(reason: string) {
  return { kind: 'unreadable', reason } as const;
}

/** @param reason why it has no form either */
function unknownFile(reason?: string) {
  const programs = Object.values<Dialect>(dialects).map(({ program }) => program);
  const all = andList([commaList(programs.slice(0, -1)), ...programs.slice(-1)]);
  const unknown = english`it is not clear which program it belongs to. Files of ${all} are read; \`--format\` names one of them`;
  return unreadable(reason === undefined ? unknown : english`${reason}, and ${unknown}`);
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
  const context = {
    dialect: dialects['mcprc'],
    inputs: new Map(),
    folders,
    variables,
  };
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
