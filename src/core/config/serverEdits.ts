/**
 * Changes of one server of a config file as minimal edits: `enabled`, a prefix for its tools, a missing key. No other
 * server changes, also where servers share anchors.
 */
import { isDeepStrictEqual } from 'node:util';
import { EditNodes, endsInBlockScalar, isAlias, isEmptyValue, isMap, isSeq, rangeOf } from '../yaml/editNodes.js';
import {
  appendItem,
  applyEdits,
  type Edits,
  indentation,
  insertEntry,
  insertion,
  scalarText,
  type TextEdit,
  valueEdit,
  withoutOverlaps,
} from '../yaml/edits.js';
import { readYaml, type YamlNode } from '../yaml/yamlTree.js';

/**
 * Sets `enabled` of a server. Where its entry is shared by an anchor, servers that would change with it get an `enabled`
 * of their own. No edits: it has that value already.
 * @param text without a byte order mark
 */
export function setEnabled(text: string, server: string, enabled: boolean): Edits {
  const nodes = EditNodes.read(text);
  const before = enabledOf(text);
  if (!nodes || !before?.has(server)) return undefined;
  if (before.get(server) === enabled) return [];
  const wanted = new Map([...before, [server, enabled] as const]);
  const touched = new Set([server]);
  for (;;) {
    const edits: TextEdit[] = [];
    for (const id of touched) {
      const own = setOwn(nodes, id, 'enabled', String(wanted.get(id)));
      if (!own) return undefined;
      edits.push(...own);
    }
    if (withoutOverlaps(edits).length < edits.length) return undefined;
    const after = enabledOf(applyEdits(text, edits));
    if (!after) return undefined;
    const wrong = [...wanted].filter(([id, value]) => after.get(id) !== value).map(([id]) => id);
    if (wrong.length === 0) return edits;
    if (wrong.some((id) => touched.has(id))) return undefined;
    wrong.forEach((id) => touched.add(id));
  }
}

/** A key that the server does not have yet, or the value of one that is a scalar; `value` in flow style. */
export function setServerKey(text: string, server: string, key: string, value: string): Edits {
  const nodes = EditNodes.read(text);
  return nodes && sparingOthers(text, server, setOwn(nodes, server, key, value));
}

/** `- prefix: '<prefix>'` behind the transforms there are. */
export function addPrefix(text: string, server: string, prefix: string): Edits {
  const nodes = EditNodes.read(text);
  if (!nodes) return undefined;
  const entry = serverPair(nodes, server);
  const body = entry?.pair.value;
  if (!isMap(body)) return undefined;
  const step = `prefix: ${scalarText(prefix, "'")}`;
  const written = nodes.pairOf(body, 'transform');
  if (written && isSeq(written.pair.value)) {
    const list = written.pair.value;
    return sparingOthers(text, server, appendItem(nodes, list, list.flow ? `{ ${step} }` : step));
  }
  if (written) {
    if (!isEmptyValue(written.pair.value)) return undefined;
    return sparingOthers(text, server, valueEdit(nodes, written, `[{ ${step} }]`));
  }
  // Transforms that come with a merge would be replaced, not added to.
  if (serverNodes(text)?.get(server)?.has('transform')) return undefined;
  if (body.flow || endsInBlockScalar(body)) {
    return sparingOthers(text, server, insertEntry(nodes, body, 'transform', `[{ ${step} }]`));
  }
  const first = body.items[0];
  const at = first ? nodes.startOf(first.key) : 0;
  if (!first || !nodes.beginsLine(at)) return undefined;
  const indent = indentation(nodes, at);
  const deeper = indent.slice(nodes.column(rangeOf(entry?.pair.key)?.start ?? 0)) || '  ';
  const lines = `${nodes.lineBreak}${indent}transform:${nodes.lineBreak}${indent}${deeper}- ${step}`;
  return sparingOthers(text, server, [insertion(nodes.lineEnd(nodes.endOf(body)), lines)]);
}

/** In the entry itself, whatever comes with merges. */
function setOwn(nodes: EditNodes, server: string, key: string, value: string): Edits {
  const entry = serverPair(nodes, server);
  if (!entry) return undefined;
  const body = entry.pair.value;
  if (isAlias(body)) {
    const span = rangeOf(body);
    return span && [{ span, text: `{ <<: *${body.source}, ${key}: ${value} }` }];
  }
  if (isEmptyValue(body)) return valueEdit(nodes, entry, `{ ${key}: ${value} }`);
  const written = nodes.pairOf(body, key);
  if (written) return valueEdit(nodes, written, value);
  return belowKey(nodes, entry, key, value) ?? insertEntry(nodes, body, key, value);
}

/** On the line below the server's id, above comments that belong to its first key. */
function belowKey(
  nodes: EditNodes,
  entry: { pair: { key: unknown; value: unknown } },
  key: string,
  value: string,
): Edits {
  const body = entry.pair.value;
  const keyEnd = rangeOf(entry.pair.key)?.end;
  if (!isMap(body) || body.flow || keyEnd === undefined) return undefined;
  const first = body.items[0];
  const start = first ? nodes.startOf(first.key) : 0;
  const lineEnd = nodes.lineEnd(keyEnd);
  if (!nodes.beginsLine(start) || start < lineEnd) return undefined;
  // An anchor or tag on a line of its own belongs to what would stand above it.
  const between = nodes.text.slice(lineEnd, start);
  if (between.replace(/#[^\r\n]*/g, '').trim() !== '') return undefined;
  return [insertion(lineEnd, `${nodes.lineBreak}${indentation(nodes, start)}${key}: ${value}`)];
}

export function serverPair(nodes: EditNodes, server: string): ReturnType<EditNodes['pairOf']> {
  return nodes.pairOf(nodes.pairOf(nodes.root, 'servers')?.pair.value, server);
}

/** The edits, unless another server would be another one by them. */
function sparingOthers(text: string, server: string, edits: Edits): Edits {
  if (!edits) return undefined;
  const [before, after] = [serverNodes(text), serverNodes(applyEdits(text, edits))];
  if (!before || !after || before.size !== after.size) return undefined;
  for (const [id, body] of before) if (id !== server && !isDeepStrictEqual(body, after.get(id))) return undefined;
  return edits;
}

/** Empty for a text that cannot be read. */
export function serverIds(text: string): ReadonlySet<string> {
  return new Set(serverNodes(text)?.keys());
}

function enabledOf(text: string): Map<string, boolean> | undefined {
  const servers = serverNodes(text);
  return servers && new Map([...servers].map(([id, body]) => [id, body.get('enabled') !== false]));
}

type Plain = string | number | boolean | null | readonly Plain[] | ReadonlyMap<string, Plain>;

/** What each server says, aliases and merges resolved; undefined for what cannot be read. */
export function serverNodes(text: string): Map<string, ReadonlyMap<string, Plain>> | undefined {
  const { faults, root } = readYaml(text);
  if (faults.length > 0 || root.kind !== 'map') return undefined;
  const servers = root.entries.get('servers')?.value;
  if (servers?.kind !== 'map') return undefined;
  const bodies = new Map<string, ReadonlyMap<string, Plain>>();
  for (const [id, { value }] of servers.entries) {
    const body = plainOf(value);
    bodies.set(id, body instanceof Map ? (body as Map<string, Plain>) : new Map());
  }
  return bodies;
}

function plainOf(node: YamlNode): Plain {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainOf);
  return new Map([...node.entries].map(([key, { value }]) => [key, plainOf(value)]));
}

/** Changes of a server's filter as minimal edits. No other server changes, also where servers share anchors. */

/**
 * Keeps one tool from agents by the blacklist. Undefined where that would mean something else: a whitelist that names the
 * tool wins over the blacklist, and beside a blacklist it lets through what neither names (N2).
 * @param text without a byte order mark
 * @param tool its original name
 */
export function blacklistTool(text: string, server: string, tool: string): Edits {
  const nodes = EditNodes.read(text);
  const body = nodes && serverPair(nodes, server)?.pair.value;
  const whole = serverNodes(text)?.get(server);
  if (!nodes || !isMap(body) || !whole || tool.includes('*') || tool === '') return undefined;
  const filter = whole.get('tools');
  const whitelist = filter instanceof Map ? (filter.get('whitelist') as unknown) : undefined;
  if (Array.isArray(whitelist) && whitelist.length > 0) return undefined;
  const name = scalarText(tool);
  const tools = nodes.pairOf(body, 'tools');
  if (!tools) {
    // A filter that comes with a merge would be replaced, not added to.
    return filter === undefined
      ? sparingOthers(text, server, insertEntry(nodes, body, 'tools', `{ blacklist: [${name}] }`))
      : undefined;
  }
  if (isEmptyValue(tools.pair.value)) {
    return sparingOthers(text, server, valueEdit(nodes, tools, `{ blacklist: [${name}] }`));
  }
  if (!isMap(tools.pair.value)) return undefined;
  const blacklist = nodes.pairOf(tools.pair.value, 'blacklist');
  if (!blacklist) {
    const merged = filter instanceof Map && filter.has('blacklist');
    return merged
      ? undefined
      : sparingOthers(text, server, insertEntry(nodes, tools.pair.value, 'blacklist', `[${name}]`));
  }
  if (isEmptyValue(blacklist.pair.value)) return sparingOthers(text, server, valueEdit(nodes, blacklist, `[${name}]`));
  if (!isSeq(blacklist.pair.value)) return undefined;
  return sparingOthers(text, server, appendItem(nodes, blacklist.pair.value, name));
}
