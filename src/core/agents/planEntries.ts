/**
 * Plans entries for toolsets in an agent's file (G6). All else in it stays, and no entry holds a
 * token. Pure.
 */
import { english, said, translated } from '../base/language.js';
import { commaList } from '../base/text.js';
import path from 'node:path';
import { canonicalJson } from '../base/canonicalJson.js';
import { oneLine } from '../base/inert.js';
import { asFields, isObject, mapped, without } from '../base/isObject.js';
import type { Plan } from '../import/imported.js';
import { readSource } from '../import/readSource.js';
import { difference } from '../yaml/edits.js';
import { isSecretName } from '../base/secrets.js';
import { connectOf, leadsBackHere, toolsetOfAddress } from '../import/ownEndpoint.js';
import { agents, entryKeys, type Agent, type AgentKind, type Launcher } from './agents.js';
import {
  namedEntries,
  readYamlRoot,
  withJsonEntries,
  withTomlEntries,
  withYamlEntries,
  type Entries,
  type EntryChange,
} from './entryWriters.js';

interface EntriesRequest {
  readonly agent: AgentKind;
  /** The text of its file without a byte order mark, or undefined without a file. */
  readonly text: string | undefined;
  readonly label: string;
  readonly toolsets: readonly string[];
  /** True for an entry for each toolset. Otherwise one entry offers all, also later ones. */
  readonly isEach: boolean;
  readonly launcher: Launcher;
  readonly folder: string;
  /** The absolute path of the folder's token file, to recognise entries of earlier versions. */
  readonly tokenFile: string;
}

type PlannedEntry = Readonly<{
  /** Undefined for all toolsets. */
  id: string | undefined;
  name: string;
  change: keyof typeof words;
}>;

export type EntriesPlan = Plan<{
  readonly entries: readonly PlannedEntry[];
  /** The way to the wanted entries if others of ours are there. */
  readonly advice: string | undefined;
}>;

/** Keys for the person's preference. They do not change the target. */
const preferences: readonly string[] = [
  'timeout',
  'startup_timeout_sec',
  'tool_timeout_sec',
  'tools',
];

/**
 * Keys of an entry with an address, as earlier versions wrote them. Beside a command, they would be
 * another server.
 */
const ofAddress =
  'url httpUrl serverUrl headers headersHelper http_headers_helper bearer_token_env_var oauth'.split(
    ' ',
  );

export function planEntries(request: EntriesRequest): EntriesPlan {
  const { text = '', label, toolsets, isEach } = request;
  const agent = agents[request.agent];
  const before = readEntries(text, agent);
  if (typeof before === 'string') return { kind: 'impossible', reason: `${label}: ${before}` };
  const planned = otherEntries(request, before.entries);
  const advice = planned.length > 0 ? adviceFor(request, planned) : undefined;
  const changes: EntryChange[] = [];
  // A toolset may have the name `__proto__`.
  const wanted = new Map(Object.entries(before.entries));
  const ids = isEach ? toolsets : [undefined];
  for (const id of advice === undefined ? ids : []) {
    const { entry, change } = plannedEntry(request, id, wanted);
    const { name, keys, rest, isNew } = change;
    const isSame = Object.keys(keys).length === 0 && !rest;
    const known = isSame ? 'same' : 'updated';
    planned.push({
      id,
      name,
      change: isNew ? 'added' : known,
    });
    if (!isSame) changes.push(change);
    wanted.set(name, entry);
  }
  const isChanged = changes.length > 0;
  const after = isChanged ? writers[agent.form](text, agent.container, changes) : text;
  const changed = { [agent.container]: Object.fromEntries(wanted) };
  const expected = isChanged ? { ...before.root, ...changed } : before.root;
  const reached = readEntries(after, agent);
  if (typeof reached === 'string' || canonicalJson(reached.root) !== canonicalJson(expected)) {
    const reason = english`${label} cannot be changed without touching other parts of it`;
    return { kind: 'impossible', reason };
  }
  return {
    kind: 'planned',
    entries: planned,
    edits: difference(text, after),
    after,
    advice,
    report: report(request, planned, advice),
  };
}

/**
 * Returns the entries of ours of the other kind. They stay alone, because an agent would get each
 * tool twice.
 */
function otherEntries(request: EntriesRequest, entries: Entries): PlannedEntry[] {
  const { toolsets, isEach } = request;
  return Object.entries(entries).flatMap(([name, entry]): PlannedEntry[] => {
    const target = targetOf(entry, request);
    if (!target || (target.id === undefined) !== isEach) return [];
    // Other programs may have an address like ours.
    const isOurs = target.isStarted || toolsets.includes(target.id ?? '');
    return isOurs ? [{ id: target.id, name, change: 'kept' }] : [];
  });
}

function adviceFor(
  { agent, label, isEach }: EntriesRequest,
  others: readonly PlannedEntry[],
): string {
  const names = commaList(
    others.map(({ name }) => `\`${name}\``),
    said,
  );
  return oneLine(
    isEach
      ? said`To get an entry for each toolset, remove ${names} from ${label}. Then run \`mcp-toolsets entries ${agent} --each --write\` in this folder, or *Set Up Another Agent…* in the editor.`
      : said`To join them into one entry, remove ${names} from ${label}. Then run \`mcp-toolsets entries ${agent} --write\` in this folder, or *Set Up Another Agent…* in the editor.`,
  );
}

/** Returns the entry of a toolset as it should be, and the change that leads there. */
function plannedEntry(
  request: EntriesRequest,
  id: string | undefined,
  entries: ReadonlyMap<string, unknown>,
): { readonly entry: Entries; readonly change: EntryChange } {
  const { agent, launcher, folder } = request;
  const held = [...entries].find(([, one]) => {
    const target = targetOf(one, request);
    return target !== undefined && target.id === id;
  });
  const there = asFields(held?.[1]);
  const own = Object.entries(entryKeys(agent, id, launcher, folder));
  const missing = own.filter(([key, value]) => {
    if (preferences.includes(key) && key in there) return false;
    return canonicalJson(there[key]) !== canonicalJson(value);
  });
  const keys = Object.fromEntries(missing);
  const rest = without(there, ...ofAddress);
  const isShorter = Object.keys(rest).length < Object.keys(there).length;
  const change = {
    name: held?.[0] ?? freeName(id, [...entries.keys()]),
    keys,
    rest: isShorter ? rest : undefined,
    isNew: held === undefined,
  };
  return { entry: { ...rest, ...keys }, change };
}

/**
 * Returns the toolset of this folder, or all of them, to which an entry leads. Entries with other
 * credentials belong to other programs.
 */
function targetOf(
  entry: unknown,
  { folder, tokenFile }: EntriesRequest,
): { readonly id: string | undefined; readonly isStarted: boolean } | undefined {
  if (!isObject(entry)) return undefined;
  const started = connectOf(entry);
  if (started) {
    const isHere = started.folder === undefined || started.folder === folder;
    return isHere ? { id: started.id, isStarted: true } : undefined;
  }
  const id = toolsetOfAddress(entry);
  return id !== undefined && hasOurToken(entry, tokenFile) ? { id, isStarted: false } : undefined;
}

function hasOurToken(entry: Entries, tokenFile: string): boolean {
  const text = JSON.stringify(entry);
  if (text.includes('.token')) return text.includes(path.basename(tokenFile));
  const keys = [entry, ...Object.values(entry).filter(isObject)].flatMap(Object.keys);
  return leadsBackHere(entry) || !keys.some((key) => isSecretName(key) || /helper$/i.test(key));
}

const writers = {
  json: withJsonEntries,
  toml: withTomlEntries,
  yaml: withYamlEntries,
} as const;

/** Returns the whole file and our part of it, or a phrase that says why it cannot be read. */
function readEntries(
  text: string,
  agent: Agent,
): { readonly root: Entries; readonly entries: Entries } | string {
  const { form, container, program } = agent;
  // A file with only servers would hide the program's default models.
  const models = english`the file does not exist yet. ${program} keeps its models in it, so set up its models first`;
  if (text.trim() === '') return form === 'yaml' ? models : { root: {}, entries: {} };
  if (form === 'yaml') {
    const root = readYamlRoot(text);
    if (!root) return 'it is not YAML';
    const named = namedEntries(root[container] ?? []);
    if (!named) return english`\`${container}\` is not a list of servers that each have a name`;
    const entries = mapped(named, (entry) => without(entry as Entries, 'name'));
    return { root: { ...root, [container]: entries }, entries };
  }
  const read = readSource(text, form);
  if (typeof read === 'string') return read;
  const entries = read.root[container] ?? {};
  return isObject(entries)
    ? { root: read.root, entries }
    : english`\`${container}\` is not a map of servers`;
}

/**
 * The toolset's own name if it is free: a program that finds a toolset in two places takes equal
 * names for one server.
 */
function freeName(id: string | undefined, taken: readonly string[]): string {
  const names = new Set(taken.map((name) => name.toLowerCase()));
  const other = id === undefined ? 'toolsets' : `${id}-toolset`;
  let free = id ?? other;
  for (let number = 1; names.has(free.toLowerCase()); number++)
    free = `${other}${number > 1 ? `-${number}` : ''}`;
  return free;
}

const words = {
  added: 'new',
  updated: 'changed',
  same: 'already there',
  kept: 'left as it is',
} as const;

/** One sentence for the people who review the file. */
function startText({ command, args }: Launcher): string {
  if (command === 'npx') return 'An entry starts the package `mcp-toolsets` by `npx`.';
  return args.includes('-e')
    ? '`node -e` loads the launcher `~/.minds/bin/mcp-toolsets.js` from the home folder of whoever starts the entry, and says what to do if it is missing.'
    : 'An entry starts the launcher `~/.minds/bin/mcp-toolsets.js`, which MCP Toolsets keeps up to date.';
}

function report(
  request: EntriesRequest,
  planned: readonly PlannedEntry[],
  advice: string | undefined,
): string {
  const { agent: kind, label, launcher } = request;
  const { program, isOfFolder, trust } = agents[kind];
  const file = isOfFolder
    ? said`The entry holds no path, no port and no token, so you can commit the file. It is the same on every machine.`
    : said`The entry holds the path of this folder, because ${label} is for your whole machine.`;
  return [
    ...planned.map(({ id, name, change }) => {
      const offered = id === undefined ? said`all toolsets` : said`the toolset \`${id}\``;
      return oneLine(`- \`${name}\`: ${offered} (${translated(words[change])})`);
    }),
    ...(advice === undefined ? [] : ['', advice]),
    '',
    `${translated(startText(launcher))} ${file}`,
    '',
    said`The command connects the agent to the editor or to \`mcp-toolsets serve\`. If nothing serves the folder, the command serves it itself.`,
    ...(trust === undefined ? [] : ['', translated(trust)]),
    '',
    said`${program} reads ${label} when it starts. Other entries, comments and the order of the file stay as they are.`,
    '',
  ].join('\n');
}
