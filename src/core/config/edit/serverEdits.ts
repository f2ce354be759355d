/**
 * Changes a config file by minimal edits. No other server changes, even if servers share anchors.
 */
import { isDeepStrictEqual } from 'node:util';
import { asFields, isObject } from '../../base/isObject.js';
import type { NameFilter } from '../model.js';
import {
  EditNodes,
  endsInBlockScalar,
  isAlias,
  isAnchored,
  isEmptyValue,
  isMap,
  isSeq,
  spanOf,
  type PairPlace,
} from '../../yaml/editNodes.js';
import * as edits from '../../yaml/edits.js';
import type { Edits } from '../../yaml/edits.js';
import { isEmpty, plainValue, textOf, valueIn } from '../../yaml/valueNodes.js';
import { readYaml } from '../../yaml/yamlTree.js';
import { transportOfKey } from '../keys.js';

type PlainMap = Readonly<Record<string, unknown>>;

export function insertVersion(nodes: EditNodes): Edits {
  const { root, lineBreak } = nodes;
  if (!isMap(root)) {
    if (!isEmptyValue(root)) return undefined;
    // The version goes behind the document marker and above all comments except those at the head
    // of the file.
    const at =
      /^(?:#[^\r\n]*(?:\r\n|\r|\n))*(?:---[ \t]*(?:\r\n|\r|\n))?/.exec(nodes.text)?.[0].length ?? 0;
    return /^(?:%|---)/m.test(nodes.text.slice(at))
      ? undefined
      : [edits.insertion(at, `version: 1${lineBreak}`)];
  }
  return setHeadKey(nodes, 'version', '1');
}

export function setHeadKey(nodes: EditNodes, key: string, value: string): Edits {
  const written = nodes.pairOf(nodes.root, key);
  return written
    ? edits.valueEdit(nodes, written, value)
    : edits.insertEntry(nodes, nodes.root, key, value);
}

export function setEnabled(text: string, server: string, enabled: boolean): Edits {
  const before = serverValues(text)?.get(server);
  if (!before || (before['enabled'] !== false) === enabled) return before && [];
  return setServerKey(text, server, 'enabled', String(enabled));
}

/** Adds a missing key, or replaces a scalar value. @param value in flow style */
export function setServerKey(text: string, server: string, key: string, value: string): Edits {
  const nodes = EditNodes.read(text);
  return nodes && sparingOthers(text, server, setOwnKey(nodes, server, key, value));
}

/** Adds a step to the transforms of the tools that count. */
export function addStep(text: string, server: string, step: string): Edits {
  const nodes = EditNodes.read(text);
  const values = serverValues(text)?.get(server);
  if (!nodes || !values) return undefined;
  const ofTools = asFields(values['tools'])['transform'];
  const path = ofTools === undefined ? ['transform'] : ['tools', 'transform'];
  const own = path.reduce(
    (place, key) => nodes.pairOf(place?.pair.value, key),
    serverPair(nodes, server),
  );
  // The new list would replace transforms from a merge.
  if (!own && (ofTools ?? values['transform']) !== undefined) return undefined;
  return sparingOthers(text, server, addBelow(nodes, server, path, `[{ ${step} }]`, [step]));
}

/**
 * Adds a value in flow style below a server, or items to a list, with the missing maps. A present
 * value stays.
 */
function addBelow(
  nodes: EditNodes,
  server: string,
  path: readonly string[],
  flow: string,
  items: readonly string[] = [],
): Edits {
  let place = serverPair(nodes, server);
  for (const [depth, key] of path.entries()) {
    const next = nodes.pairOf(place?.pair.value, key);
    if (!place || !next) return place && addKeys(nodes, place, path.slice(depth), flow, items);
    place = next;
  }
  const list = nodes.target(place?.pair.value);
  if (!place || isEmptyValue(list)) return place && edits.valueEdit(nodes, place, flow);
  if (!isSeq(list) || items.length === 0) return undefined;
  return edits.appendItem(nodes, list, ...(list.flow ? [flow.slice(1, -1)] : items));
}

/**
 * Adds keys, each in the map of the one before. They come first in a map in flow style or with a
 * block text at its end.
 */
export function addKeys(
  nodes: EditNodes,
  { pair }: Pick<PairPlace, 'pair'>,
  path: readonly string[],
  flow: string,
  items: readonly string[],
): Edits {
  const { key: parent, value: map } = pair;
  const [key = '', ...inner] = path.map((one) => edits.scalarText(one));
  const inFlow = inner.reduceRight((value, one) => `{ ${one}: ${value} }`, flow);
  if (isEmptyValue(map)) return edits.valueEdit(nodes, { pair }, `{ ${key}: ${inFlow} }`);
  if (!isMap(map)) return undefined;
  const isLine = inner.length + items.length === 0;
  if (isLine || map.flow || endsInBlockScalar(map))
    return edits.insertEntry(nodes, map, key, inFlow);
  const step = Math.max(
    nodes.column(nodes.startOf(map.items[0]?.key)) - nodes.column(nodes.startOf(parent)),
    2,
  );
  const keys = [key, ...inner].map((one, depth) => `${' '.repeat(step * depth)}${one}:`);
  const block =
    items.map((item) => `\n${' '.repeat(step * path.length)}- ${item}`).join('') || ` ${flow}`;
  return edits.insertAt(nodes, map, map.items.length, (keys.join('\n') + block).split('\n'));
}

/** Sets a key in the entry itself, despite merges. Servers with the same entry change too. */
export function setOwnKey(nodes: EditNodes, server: string, key: string, value: string): Edits {
  const entry = serverPair(nodes, server);
  if (!entry) return undefined;
  const body = entry.pair.value;
  if (isAlias(body)) {
    const span = spanOf(body);
    return span && [{ span, text: `{ <<: *${body.source}, ${key}: ${value} }` }];
  }
  if (isEmptyValue(body)) return edits.valueEdit(nodes, entry, `{ ${key}: ${value} }`);
  const written = nodes.pairOf(body, key);
  if (written) return edits.valueEdit(nodes, written, value);
  return belowKey(nodes, entry, key, value) ?? edits.insertEntry(nodes, body, key, value);
}

/** Inserts a key below the key of a map, above the comments on the entries of that map. */
function belowKey(
  nodes: EditNodes,
  entry: Pick<PairPlace, 'pair'>,
  key: string,
  value: string,
): Edits {
  const body = entry.pair.value;
  const keyEnd = spanOf(entry.pair.key)?.end;
  const start = isMap(body) && !body.flow ? nodes.firstOnLine(body, body.items[0]) : undefined;
  if (start === undefined || keyEnd === undefined) return undefined;
  const lineEnd = nodes.lineEnd(keyEnd);
  // An anchor or tag on a separate line would attach to a key above it.
  const between = nodes.text.slice(lineEnd, start).replace(/#[^\r\n]*/g, '');
  if (between.trim() !== '') return undefined;
  return [
    edits.insertion(
      lineEnd,
      `${nodes.lineBreak}${' '.repeat(nodes.column(start))}${key}: ${value}`,
    ),
  ];
}

export function serverPair(nodes: EditNodes, server: string): ReturnType<EditNodes['pairOf']> {
  return nodes.pairOf(nodes.pairOf(nodes.root, 'servers')?.pair.value, server);
}

function sparingOthers(text: string, server: string, made: Edits): Edits {
  return made && othersChanged(text, server, made)?.length === 0 ? made : undefined;
}

/** Returns the ids of the other servers that edits change; undefined if they add or lose one. */
export function othersChanged(
  text: string,
  server: string,
  made: readonly edits.TextEdit[],
): string[] | undefined {
  const before = serverValues(text);
  const after = serverValues(edits.applyEdits(text, made));
  if (!before || !after || before.size !== after.size) return undefined;
  return [...before.keys()].filter(
    (id) => id !== server && !isDeepStrictEqual(before.get(id), after.get(id)),
  );
}

/** Returns an empty set for an unreadable text. */
export function serverIds(text: string): ReadonlySet<string> {
  return new Set(serverValues(text)?.keys());
}

export function serverValues(text: string): Map<string, PlainMap> | undefined {
  const { errors, root } = readYaml(text);
  const servers = valueIn(root, 'servers');
  if (errors.length > 0 || servers?.kind !== 'map') return undefined;
  return new Map(
    [...servers.entries].map(([id, { value }]) => {
      const plain = plainValue(value);
      return [id, isObject(plain) ? plain : {}];
    }),
  );
}

const lists = ['whitelist', 'blacklist'] as const;

export function toolFilterOf(text: string, server: string): NameFilter | undefined {
  const { errors, root } = readYaml(text);
  const body = valueIn(root, 'servers', server);
  if (errors.length > 0 || body?.kind !== 'map') return undefined;
  const [whitelist, blacklist] = lists.map((list) => {
    const value = valueIn(body, 'tools', list);
    if (!value || isEmpty(value)) return [];
    const texts = value.kind === 'list' ? value.items.map(textOf) : [undefined];
    return texts.includes(undefined) ? undefined : texts.filter((one) => one !== undefined);
  });
  return whitelist && blacklist && { whitelist, blacklist };
}

/**
 * Removes and adds items until the lists of tools are as wanted. An empty list goes with its key.
 * @param inAll true if aliases are followed, so that other servers may change too
 */
export function setToolFilter(
  text: string,
  server: string,
  wanted: NameFilter,
  inAll = false,
): Edits {
  let after: string | undefined = text;
  for (const list of lists)
    after = after === undefined ? undefined : withList(after, server, list, wanted[list], inAll);
  if (after === undefined || !isDeepStrictEqual(toolFilterOf(after, server), wanted))
    return undefined;
  if (!isDeepStrictEqual(withoutLists(text, server), withoutLists(after, server))) return undefined;
  const made = edits.difference(text, after);
  return inAll ? made : sparingOthers(text, server, made);
}

/**
 * Writes the lists that come from an alias or a merge into the entry itself, where they can change
 * without other servers.
 */
export function ownLists(text: string, server: string): Edits {
  const nodes = EditNodes.read(text);
  const tools = serverValues(text)?.get(server)?.['tools'];
  if (!nodes || !isObject(tools)) return undefined;
  const written = nodes.pairOf(serverPair(nodes, server)?.pair.value, 'tools');
  const shared = lists.flatMap((list) => {
    const place = nodes.pairOf(written?.pair.value, list);
    return place && isAlias(place.pair.value)
      ? (edits.valueEdit(nodes, place, edits.flowText(tools[list])) ?? [])
      : [];
  });
  return shared.length > 0 ? shared : setOwnKey(nodes, server, 'tools', edits.flowText(tools));
}

function withoutLists(text: string, server: string): PlainMap {
  const { tools, ...rest } = serverValues(text)?.get(server) ?? {};
  return {
    ...rest,
    tools: {
      ...(isObject(tools) && tools),
      whitelist: undefined,
      blacklist: undefined,
    },
  };
}

function withList(
  text: string,
  server: string,
  list: (typeof lists)[number],
  wanted: readonly string[],
  inAll: boolean,
): string | undefined {
  const before = toolFilterOf(text, server)?.[list];
  if (!before) return undefined;
  if (isDeepStrictEqual(new Set(before), new Set(wanted))) return text;
  const nodes = EditNodes.read(text, inAll);
  const made = nodes && listStep(nodes, server, list, before, wanted);
  return made && withList(edits.applyEdits(text, made), server, list, wanted, inAll);
}

/** Adds all new items, or removes one. */
function listStep(
  nodes: EditNodes,
  server: string,
  list: (typeof lists)[number],
  before: readonly string[],
  wanted: readonly string[],
): Edits {
  const tools = nodes.pairOf(serverPair(nodes, server)?.pair.value, 'tools')?.pair;
  const written = nodes.pairOf(tools?.value, list)?.pair;
  const value = nodes.target(written?.value);
  const items: readonly unknown[] = isSeq(value) ? value.items : [];
  // A list that comes from an alias or a merge is not written here.
  if (before.length > 0 && items.length === 0) return undefined;
  const removed = items[before.findIndex((one) => !wanted.includes(one))];
  const news = wanted.filter((one) => !before.includes(one));
  const added = news.map((one) => edits.textLike(removed ?? items[0], one));
  const [first = ''] = news;
  if (isSeq(value) && added.length === 1 && first !== wanted.at(-1)) {
    // A pattern comes back to its place.
    const [previous = ''] = wanted.slice(0, wanted.indexOf(first)).slice(-1);
    return edits.insertItems(nodes, value, before.indexOf(previous) + 1, added);
  }
  if (added.length > 0) {
    const lines = tools && !written ? [] : added;
    return addBelow(nodes, server, ['tools', list], `[${added.join(', ')}]`, lines);
  }
  if (wanted.length > 0 || isAnchored(value))
    return edits.removeItem(nodes, spanOf(removed)?.start ?? -1);
  return removeList(nodes, tools, written);
}

/** Removes the key of a list, or of the tools with only this list. */
function removeList(
  nodes: EditNodes,
  tools: PairPlace['pair'] | undefined,
  written: PairPlace['pair'] | undefined,
): Edits {
  const isAlone = isMap(tools?.value) && tools.value.items.length === 1;
  return edits.removeKey(nodes, spanOf((isAlone ? tools : written)?.key)?.start ?? -1);
}

/**
 * Blacklists a tool by its original name. No edits beside a whitelist, which wins or changes its
 * meaning (N2).
 */
export function blacklistTool(text: string, server: string, tool: string): Edits {
  const filter = toolFilterOf(text, server);
  if (!filter || filter.whitelist.length > 0 || tool.includes('*') || tool === '') return undefined;
  return setToolFilter(text, server, {
    whitelist: [],
    blacklist: [...filter.blacklist, tool],
  });
}

/**
 * Adds a value in flow style below `tools.override`. Returns undefined if a value is there already.
 * @param path begins with the tool
 */
export function addOverride(
  text: string,
  server: string,
  path: readonly string[],
  value: string,
): Edits {
  const nodes = EditNodes.read(text);
  const made = nodes && addBelow(nodes, server, ['tools', 'override', ...path], value);
  return sparingOthers(text, server, made);
}

const launchKeys = ['transport', ...transportOfKey.keys()];

/**
 * Returns the server around the caret if an edit changes its launch. @param caret an offset in `now`
 */
export function launchTypedAt(before: string, now: string, caret: number): string | undefined {
  const nodes = EditNodes.read(now);
  const servers = serverValues(now);
  if (!nodes || !servers) return undefined;
  // Blank lines and comments behind an entry belong to it, because it grows there.
  const entries = [...servers.keys()].map((id) => ({
    id,
    start: nodes.startOf(serverPair(nodes, id)?.pair.key),
  }));
  const { id } =
    entries.filter(({ start }) => start <= caret).sort((a, b) => b.start - a.start)[0] ?? {};
  if (id === undefined) return undefined;
  const was = serverValues(before)?.get(id) ?? {};
  const is = servers.get(id) ?? {};
  return launchKeys.some((key) => !isDeepStrictEqual(was[key], is[key])) ? id : undefined;
}
