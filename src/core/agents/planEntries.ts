/**
 * Plans entries for toolsets in another program's file (G6): the change of its text, and notes for the person before
 * the write. Everything here is pure.
 *
 * Invariants: the edited file has its former content and our entries, nothing else. An entry for another target stays.
 * No entry holds a token.
 */
import { canonicalJson } from '../base/canonicalJson.js';
import { oneLine } from '../base/inert.js';
import { isObject } from '../base/isObject.js';
import { readSource } from '../import/readSource.js';
import type { TextEdit } from '../yaml/edits.js';
import { isSecretName } from '../base/secrets.js';
import { tokenVariable } from '../base/tokenVariable.js';
import { leadsBackHere, toolsetOf } from '../import/ownEndpoint.js';
import { agents, type Agent, type AgentKind } from './agents.js';
import {
  entryKeys,
  exportCommand,
  namesTokenFile,
  tokenFrom,
  type Launcher,
  type ServedAt,
  type TokenSource,
} from './entryKeys.js';
import { withJsonEntries, type EntryChange } from './jsonEntries.js';
import { withTomlEntries } from './tomlEntries.js';
import { namedEntries, readYamlRoot, withYamlEntries } from './yamlEntries.js';

interface EntriesRequest {
  readonly agent: AgentKind;
  /** The text of its file without a byte order mark, or undefined without a file. */
  readonly text: string | undefined;
  /** The file's name for a person. */
  readonly label: string;
  readonly toolsets: readonly ServedAt[];
  readonly source: TokenSource;
  readonly launcher: Launcher;
}

interface PlannedEntry {
  readonly id: string;
  /** The agent's name for it. */
  readonly name: string;
  readonly change: 'added' | 'updated' | 'same';
}

export type EntriesPlan =
  /** The reason is a phrase. */
  | { readonly kind: 'impossible'; readonly reason: string }
  | {
      readonly kind: 'planned';
      readonly entries: readonly PlannedEntry[];
      /** Empty if the file has all entries already. */
      readonly edits: readonly TextEdit[];
      readonly after: string;
      /** The report in Markdown. */
      readonly report: string;
    };

type Entries = Readonly<Record<string, unknown>>;

export function planEntries({
  agent: kind,
  text = '',
  label,
  toolsets,
  source,
  launcher,
}: EntriesRequest): EntriesPlan {
  const agent = agents[kind];
  const before = readEntries(text, agent);
  if (before.kind === 'impossible') return { kind: 'impossible', reason: `${label}: ${before.reason}` };
  const planned: PlannedEntry[] = [];
  const changes: EntryChange[] = [];
  const wanted: Record<string, unknown> = { ...before.entries };
  for (const served of toolsets) {
    const { id } = served;
    const own = entryKeys(kind, served, source, launcher);
    const isOwn = (entry: unknown): boolean => isObject(entry) && isOurs(entry, id, source, launcher);
    const held = Object.entries(wanted).find(([, entry]) => isOwn(entry));
    const name = held?.[0] ?? freeName(agent, id, wanted);
    const there = held?.[1] as Entries | undefined;
    const keys = there ? changedKeys(there, own) : own;
    const isSame = Object.keys(keys).length === 0;
    planned.push({ id, name, change: isSame ? 'same' : held ? 'updated' : 'added' });
    // An address beside a command would be another server, so such an entry is written again, with the person's
    // additions.
    const kept = 'command' in own && there ? withoutAddress(there) : there;
    const isRewritten = kept !== undefined && Object.keys(kept).length < Object.keys(there ?? {}).length;
    const entry = { ...kept, ...keys };
    if (isRewritten) changes.push({ name, keys: entry, isNew: false, isWhole: true });
    else if (!isSame) changes.push({ name, keys, isNew: held === undefined });
    wanted[name] = entry;
  }
  const after = changes.length === 0 ? text : writers[agent.form](text, agent.container, changes);
  const expected = changes.length === 0 ? before.root : { ...before.root, [agent.container]: wanted };
  const reached = readEntries(after, agent);
  if (reached.kind === 'impossible' || canonicalJson(reached.root) !== canonicalJson(expected)) {
    return { kind: 'impossible', reason: `${label} cannot be changed without touching other parts of it` };
  }
  return {
    kind: 'planned',
    entries: planned,
    edits: difference(text, after),
    after,
    report: report(agent, label, planned, source),
  };
}

/**
 * True if an entry leads to the toolset of this folder. An entry of another folder names its token file, or the folder.
 * Other programs may have an address like ours; entries with other credentials are theirs.
 */
function isOurs(entry: Entries, id: string, source: TokenSource, { folder }: Launcher): boolean {
  if (toolsetOf(entry) !== id) return false;
  const text = JSON.stringify(entry);
  if (namesTokenFile(text, source)) return true;
  if (text.includes('.token')) return false;
  if (Array.isArray(entry['args'])) return entry['args'].includes(folder);
  return leadsBackHere(entry) || !hasCredential(entry);
}

function hasCredential(entry: Entries): boolean {
  const headers = Object.values(entry).filter(isObject);
  return [entry, ...headers].some((keys) => Object.keys(keys).some((key) => isSecretName(key) || /helper$/i.test(key)));
}

function withoutAddress(entry: Entries): Entries {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !['url', 'serverUrl', 'headers'].includes(key)));
}

type Read =
  | { readonly kind: 'impossible'; readonly reason: string }
  | { readonly kind: 'read'; readonly root: Entries; readonly entries: Entries };

const writers = { json: withJsonEntries, toml: withTomlEntries, yaml: withYamlEntries } as const;

/** Reads a list of named entries as a map, for comparison. */
function readYamlEntries(text: string, { program, container }: Agent): Read {
  const root = readYamlRoot(text);
  if (!root) {
    // A file with only servers would hide the program's default models.
    const reason =
      text.trim() === ''
        ? `the file does not exist yet. ${program} keeps its models in it, so set up its models first`
        : 'it is not YAML';
    return { kind: 'impossible', reason };
  }
  const named = namedEntries(root[container] ?? []);
  if (!named) return { kind: 'impossible', reason: `\`${container}\` is not a list of servers that each have a name` };
  const entries = Object.fromEntries(Object.entries(named).map(([key, { name: _, ...entry }]) => [key, entry]));
  return { kind: 'read', root: { ...root, [container]: entries }, entries };
}

function readEntries(text: string, agent: Agent): Read {
  const { form, container } = agent;
  if (form === 'yaml') return readYamlEntries(text, agent);
  if (text.trim() === '') return { kind: 'read', root: {}, entries: {} };
  const read = readSource(text, form);
  if (read.kind === 'unreadable') return { kind: 'impossible', reason: read.reason };
  const entries = read.root[container] ?? {};
  return isObject(entries)
    ? { kind: 'read', root: read.root, entries }
    : { kind: 'impossible', reason: `\`${container}\` is not a map of servers` };
}

/** Keys for the person's preference. They do not change the target. */
const preferences: readonly string[] = ['timeout', 'tool_timeout_sec', 'tools', 'oauth'];

/** Returns our missing keys. A person's headers stay beside ours. */
function changedKeys(held: Entries, own: Entries): Entries {
  const merged = Object.entries(own).map(([key, value]) => {
    const there = held[key];
    return [key, isObject(value) && isObject(there) ? { ...there, ...value } : value] as const;
  });
  return Object.fromEntries(
    merged.filter(
      ([key, value]) =>
        canonicalJson(held[key]) !== canonicalJson(value) && !(preferences.includes(key) && key in held),
    ),
  );
}

function freeName({ readByEditor }: Agent, id: string, taken: Entries): string {
  const names = new Set(Object.keys(taken).map((name) => name.toLowerCase()));
  const isFree = (name: string): boolean => !names.has(name.toLowerCase());
  if (!readByEditor && isFree(id)) return id;
  const base = `${id}-toolset`;
  if (isFree(base)) return base;
  for (let number = 2; ; number++) if (isFree(`${base}-${number}`)) return `${base}-${number}`;
}

/** Returns one edit from the first to the last difference. */
function difference(before: string, after: string): TextEdit[] {
  if (before === after) return [];
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start++;
  let end = 0;
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [{ span: { start, end: before.length - end }, text: after.slice(start, after.length - end) }];
}

const words = { added: 'new', updated: 'changed', same: 'already there' } as const;

/** Notes about untrusted folders in the agent. */
const trustNotes: Partial<Record<AgentKind, string>> = {
  'claude-code': `Claude Code runs the command only in folders that you trust in Claude Code. In other folders it takes the token from the variable \`${tokenVariable}\`.`,
  codex: 'Codex reads this file in folders that you trust in Codex.',
  'copilot-cli':
    'Copilot CLI reads this file in folders that you trust in Copilot CLI. It reads `.mcp.json` too: if that file has entries for Claude Code, add none here, or each toolset appears twice.',
};

function report(
  { kind, program }: Agent,
  label: string,
  planned: readonly PlannedEntry[],
  source: TokenSource,
): string {
  const token = {
    command: [
      `The token is not in the file: when ${program} connects, it runs a command that reads the token of this folder on this machine. Other people who work in the folder write their own entries.`,
    ],
    file: [`The token is not in the file: ${program} reads it from the file of this folder when it starts.`],
    connect: [
      `Neither port nor token is in the file: ${program} starts \`mcp-toolsets connect\`, which finds them. If nothing serves the folder, the command serves it itself.`,
    ],
    variable: [
      `The token is not in the file: ${program} takes it from the variable \`${tokenVariable}\`. Start it from a shell that has run`,
      '',
      `    ${exportCommand(source)}`,
    ],
  }[tokenFrom(kind, source)];
  const trust = kind === 'claude-code' && source.platform === 'win32' ? undefined : trustNotes[kind];
  const editor =
    kind === 'claude-code'
      ? [
          '',
          'The editor reads this file too. It already has the toolsets and cannot connect through these entries, so leave them stopped there.',
        ]
      : [];
  return [
    ...planned.map(({ id, name, change }) => oneLine(`- \`${name}\`: the toolset \`${id}\` (${words[change]})`)),
    '',
    ...token,
    ...(trust === undefined ? [] : ['', trust]),
    ...editor,
    '',
    `${program} reads ${label} when it starts. Other entries, comments and the order of the file stay as they are.`,
    '',
  ].join('\n');
}
