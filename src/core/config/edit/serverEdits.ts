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
import { isEmpty, plainValue, textOf, valueIn, type ValueNode } from '../../yaml/valueNodes.js';
import { readYaml } from '../../yaml/yamlTree.js';
import { transportOfKey } from '../keys.js';

type PlainMap = Readonly<Record<string, unknown>>;

export function insertVersion(nodes: EditNodes): Edits {
  const { root, text, lineBreak } = nodes;
  if (isMap(root)) {
    return setHeadKey(nodes, 'version', '1');
  }
  if (!isEmptyValue(root)) return undefined;
  // The version goes behind the document marker and above all comments except those at the head of
  // the file.
  const head = /^(?:#[^\r\n]*(?:\r\n|\r|\n))*(?:---[ \t]*(?:\r\n|\r|\n))?/.exec(text);
  const at = head?.[0].length ?? 0;
  const hasOtherMarkers = /^(?:%|---)/m.test(text.slice(at));
  if (hasOtherMarkers) return undefined;
  return [edits.insertion(at, `version: 1${lineBreak}`)];
}

export function setHeadKey(nodes: EditNodes, key: string, value: string): Edits {
  const { root } = nodes;
  const written = nodes.pairOf(root, key);
  if (written) {
    return edits.valueEdit(nodes, written, value);
  }
  return edits.insertEntry(nodes, root, key, value);
}

export function setEnabled(text: string, server: string, enabled: boolean): Edits {
  const before = serverValues(text)?.get(server);
  if (!before) return undefined;
  const wasEnabled = before['enabled'] !== false;
  if (wasEnabled === enabled) return [];
  return setServerKey(text, server, 'enabled', String(enabled));
}

/** Adds a missing key, or replaces a scalar value. @param value in flow style */
export function setServerKey(text: string, server: string, key: string, value: string): Edits {
  const nodes = EditNodes.read(text);
  if (!nodes) return undefined;
  const made = setOwnKey(nodes, server, key, value);
  return sparingOthers(text, server, made);
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
  const present = ofTools ?? values['transform'];
  // The new list would replace transforms from a merge.
  if (!own && present !== undefined) return undefined;
  const made = addBelow(nodes, server, path, `[{ ${step} }]`, [step]);
  return sparingOthers(text, server, made);
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
  if (!place) return undefined;
  for (const [depth, key] of path.entries()) {
    const next = nodes.pairOf(place.pair.value, key);
    if (!next) {
      const missing = path.slice(depth);
      return addKeys(nodes, place, missing, flow, items);
    }
    place = next;
  }
  const list = nodes.target(place.pair.value);
  if (isEmptyValue(list)) {
    return edits.valueEdit(nodes, place, flow);
  }
  if (!isSeq(list) || items.length === 0) return undefined;
  const added = list.flow ? [flow.slice(1, -1)] : items;
  return edits.appendItem(nodes, list, ...added);
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
  if (isEmptyValue(map)) {
    return edits.valueEdit(nodes, { pair }, `{ ${key}: ${inFlow} }`);
  }
  if (!isMap(map)) return undefined;
  const isLine = inner.length + items.length === 0;
  if (isLine || map.flow || endsInBlockScalar(map)) {
    const below = belowKey(nodes, { pair }, key, inFlow);
    return below ?? edits.insertEntry(nodes, map, key, inFlow);
  }
  const outer = nodes.column(nodes.startOf(parent));
  const column = nodes.column(nodes.startOf(map.items[0]?.key));
  const step = ' '.repeat(Math.max(column - outer, 2));
  const keys = [key, ...inner].map((one, depth) => `${step.repeat(depth)}${one}:`);
  if (items.length === 0) {
    const head = keys.slice(0, -1);
    const last = `${keys.at(-1)} ${flow}`;
    return edits.insertAt(nodes, map, map.items.length, [...head, ...last.split('\n')]);
  }
  const indent = step.repeat(path.length);
  const list = items.flatMap((item) => `${indent}- ${item}`.split('\n'));
  return edits.insertAt(nodes, map, map.items.length, [...keys, ...list]);
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
  if (isEmptyValue(body)) {
    return edits.valueEdit(nodes, entry, `{ ${key}: ${value} }`);
  }
  const written = nodes.pairOf(body, key);
  if (written) {
    return edits.valueEdit(nodes, written, value);
  }
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
  if (!isMap(body) || body.flow) return undefined;
  const start = nodes.firstOnLine(body, body.items[0]);
  if (start === undefined || keyEnd === undefined) return undefined;
  const lineEnd = nodes.lineEnd(keyEnd);
  // An anchor or tag on a separate line would attach to a key above it.
  const between = nodes.text.slice(lineEnd, start).replace(/#[^\r\n]*/g, '');
  if (between.trim() !== '') return undefined;
  const indent = ' '.repeat(nodes.column(start));
  return [edits.insertion(lineEnd, `${nodes.lineBreak}${indent}${key}: ${value}`)];
}

export function serverPair(nodes: EditNodes, server: string): ReturnType<EditNodes['pairOf']> {
  const servers = nodes.pairOf(nodes.root, 'servers');
  return nodes.pairOf(servers?.pair.value, server);
}

function sparingOthers(text: string, server: string, made: Edits): Edits {
  if (!made) return undefined;
  const changed = othersChanged(text, server, made);
  return changed?.length === 0 ? made : undefined;
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
  const others = [...before.keys()].filter((id) => id !== server);
  return others.filter((id) => !isDeepStrictEqual(before.get(id), after.get(id)));
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
  const whitelist = textsIn(valueIn(body, 'tools', 'whitelist'));
  const blacklist = textsIn(valueIn(body, 'tools', 'blacklist'));
  return whitelist && blacklist && { whitelist, blacklist };
}

/** Returns undefined unless the value is empty or a list of texts. */
function textsIn(value: ValueNode | undefined): string[] | undefined {
  if (!value || isEmpty(value)) return [];
  if (value.kind !== 'list') return undefined;
  const items = value.items.map(textOf);
  const texts = items.filter((one) => one !== undefined);
  return texts.length === items.length ? texts : undefined;
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
  let after = text;
  for (const list of lists) {
    const next = withList(after, server, list, wanted[list], inAll);
    if (next === undefined) return undefined;
    after = next;
  }
  const isAsWanted = isDeepStrictEqual(toolFilterOf(after, server), wanted);
  const keepsRest = isDeepStrictEqual(withoutLists(text, server), withoutLists(after, server));
  if (!isAsWanted || !keepsRest) return undefined;
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
  const entry = serverPair(nodes, server);
  const written = nodes.pairOf(entry?.pair.value, 'tools');
  const shared = lists.flatMap((list) => {
    const place = nodes.pairOf(written?.pair.value, list);
    if (!place || !isAlias(place.pair.value)) return [];
    const own = edits.flowText(tools[list]);
    return edits.valueEdit(nodes, place, own) ?? [];
  });
  if (shared.length > 0) return shared;
  return setOwnKey(nodes, server, 'tools', edits.flowText(tools));
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
  if (!made) return undefined;
  const after = edits.applyEdits(text, made);
  return withList(after, server, list, wanted, inAll);
}

/** Adds all new items, or removes one. */
function listStep(
  nodes: EditNodes,
  server: string,
  list: (typeof lists)[number],
  before: readonly string[],
  wanted: readonly string[],
): Edits {
  const entry = serverPair(nodes, server);
  const tools = nodes.pairOf(entry?.pair.value, 'tools')?.pair;
  const written = nodes.pairOf(tools?.value, list)?.pair;
  const value = nodes.target(written?.value);
  const items: readonly unknown[] = isSeq(value) ? value.items : [];
  // A list that comes from an alias or a merge is not written here.
  if (before.length > 0 && items.length === 0) return undefined;
  const removed = items[before.findIndex((one) => !wanted.includes(one))];
  const model = removed ?? items[0];
  const news = wanted.filter((one) => !before.includes(one));
  const added = news.map((one) => edits.textLike(model, one));
  const [first = ''] = news;
  if (isSeq(value) && added.length === 1 && first !== wanted.at(-1)) {
    // A pattern comes back to its place.
    const previous = wanted[wanted.indexOf(first) - 1] ?? '';
    const place = before.indexOf(previous) + 1;
    return edits.insertItems(nodes, value, place, added);
  }
  if (added.length > 0) {
    const lines = tools && !written ? [] : added;
    return addBelow(nodes, server, ['tools', list], `[${added.join(', ')}]`, lines);
  }
  if (wanted.length === 0 && !isAnchored(value)) {
    return removeList(nodes, tools, written);
  }
  const start = spanOf(removed)?.start ?? -1;
  return edits.removeItem(nodes, start);
}

/** Removes the key of a list, or of the tools with only this list. */
function removeList(
  nodes: EditNodes,
  tools: PairPlace['pair'] | undefined,
  written: PairPlace['pair'] | undefined,
): Edits {
  const isAlone = isMap(tools?.value) && tools.value.items.length === 1;
  const removed = isAlone ? tools : written;
  const start = spanOf(removed?.key)?.start ?? -1;
  return edits.removeKey(nodes, start);
}

/**
 * Blacklists a tool by its original name. No edits beside a whitelist, which wins or changes its
 * meaning (N2).
 */
export function blacklistTool(text: string, server: string, tool: string): Edits {
  const filter = toolFilterOf(text, server);
  if (!filter || filter.whitelist.length > 0) return undefined;
  if (tool.includes('*') || tool === '') return undefined;
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
  const above = entries.filter(({ start }) => start <= caret);
  const [nearest] = above.sort((a, b) => b.start - a.start);
  if (!nearest) return undefined;
  const { id } = nearest;
  const was = serverValues(before)?.get(id) ?? {};
  const is = servers.get(id) ?? {};
  const isChanged = launchKeys.some((key) => !isDeepStrictEqual(was[key], is[key]));
  return isChanged ? id : undefined;
}
