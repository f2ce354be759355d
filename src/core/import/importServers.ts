/**
 * Turns another program's file into entries of `.minds/mcp.yaml` (C6). Everything here is pure.
 *
 * Invariants: never throws, whatever the text. Ids are valid, unique and free. Every value of the servers is translated
 * or named in a note.
 */
import { withoutSecrets } from '../base/secrets.js';
import { clipped } from '../base/text.js';
import { leadsBackHere } from './ownEndpoint.js';
import { builtInToolset } from '../config/model.js';
import { dialects, formatOfContent, formatOfPath } from './dialects.js';
import { serversIn } from './forms.js';
import type { Import, ImportedEntry, ImportedServer, ImportFormat, ImportNote, ImportFolders } from './imported.js';
import { readSource } from './readSource.js';
import { translate } from './translate.js';
import { Variables } from './values.js';

export interface ImportRequest {
  readonly text: string;
  /** The path of the file. */
  readonly file: string;
  /** Undefined to recognise the format by the file's name and content. */
  readonly format?: ImportFormat | undefined;
  /** The ids of the config file. */
  readonly taken: ReadonlySet<string>;
  /** True if the config file has exactly this entry under this id. */
  readonly isThere?: (id: string, entry: ImportedEntry) => boolean;
  readonly folders: ImportFolders;
}

export function importServers({ text, file, format: given, taken, isThere, folders }: ImportRequest): Import {
  const named = given ?? formatOfPath(file);
  const isToml = named === 'codex' || named === 'otter' || (named === undefined && /\.toml$/i.test(file));
  const reading = readSource(text, isToml ? 'toml' : 'json');
  if (reading.kind === 'unreadable') return reading;
  const format = named ?? formatOfContent(reading.root);
  if (!format) return { kind: 'unreadable', reason: 'it is not clear which program it belongs to' };
  const found = serversIn(reading.root, format, folders);
  const notes: ImportNote[] = [
    ...reading.twice.map((key): ImportNote => ({
      kind: 'changed',
      message: `\`${clipped(key, 100)}\` is written twice, and the last one is used.`,
    })),
    ...found.notes,
  ];
  const servers: ImportedServer[] = [];
  const variables = new Variables();
  const ids = new Set(taken);
  for (const { id: written, raw } of found.servers) {
    if (leadsBackHere(raw)) {
      notes.push({ kind: 'skipped', message: `\`${written}\`: it leads to a toolset of MCP Toolsets itself.` });
      continue;
    }
    const context = { dialect: dialects[format], inputs: found.inputs, folders, variables };
    // Variables are named by the id, so the comparison uses the entry for that id.
    const there = heldIds(written, taken).find((id) => {
      const { entry } = translate(id, raw, context);
      return entry && isThere?.(id, entry);
    });
    if (there !== undefined) {
      const as = there === written ? '' : `, as \`${there}\``;
      notes.push({ kind: 'skipped', message: `\`${written}\`: the file has it already${as}.` });
      continue;
    }
    const id = freeId(written, ids);
    const translation = translate(id, raw, context);
    if (translation.entry) {
      ids.add(id);
      if (id !== written) notes.push({ kind: 'changed', server: id, message: renamed(written, taken) });
      servers.push({ id, written, entry: translation.entry });
    }
    for (const note of translation.notes) notes.push(note);
  }
  if (servers.length === 0 && notes.length === 0) {
    notes.push({ kind: 'skipped', message: `The file has no servers in the form of ${dialects[format].program}.` });
  }
  // A note quotes foreign text from anywhere.
  const shown = notes.map((note) => ({ ...note, message: withoutSecrets(note.message) }));
  const written = JSON.stringify(servers);
  const secrets = [...variables.secrets].filter(([name]) => written.includes(`"secret":"${name}"`));
  return { kind: 'imported', servers, notes: shown, secrets: new Map(secrets) };
}

/** Makes secrets in a typed entry, as an import would. Returns undefined if it cannot. */
export function withSecretsApart(
  id: string,
  entry: Readonly<Record<string, unknown>>,
  folders: ImportFolders,
): { readonly entry: ImportedEntry; readonly secrets: ReadonlyMap<string, string> } | undefined {
  const variables = new Variables();
  const made = translate(id, entry, { dialect: dialects['mcprc'], inputs: new Map(), folders, variables });
  return made.entry && { entry: made.entry, secrets: variables.secrets };
}

function renamed(written: string, taken: ReadonlySet<string>): string {
  const name = clipped(written, 64);
  if (taken.has(written)) return `it was \`${name}\`, which the file has already.`;
  return `it was \`${name}\`; ids are made of letters, digits, \`-\` and \`_\`, and are unique.`;
}

/** After this many servers of one name, the next one counts as new. */
const mostHeld = 16;

/** Returns the ids of the config file that an earlier import may have used for a server. */
function heldIds(written: string, taken: ReadonlySet<string>): string[] {
  const held: string[] = [];
  for (const base = plainId(written); held.length < mostHeld;) {
    const id = numbered(base, held.length + 1);
    if (!taken.has(id)) break;
    held.push(id);
  }
  return held;
}

function freeId(written: string, taken: ReadonlySet<string>): string {
  const base = plainId(written);
  for (let number = 1; ; number++) {
    const id = numbered(base, number);
    if (!taken.has(id)) return id;
  }
}

function plainId(written: string): string {
  const plain =
    written
      .replace(/[^a-zA-Z0-9_-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64) || 'server';
  return plain === builtInToolset ? `${plain}-imported` : plain;
}

function numbered(base: string, number: number): string {
  return number === 1 ? base : `${base.slice(0, 60)}-${number}`;
}
