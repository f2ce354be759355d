/**
 * Reads `.mcprc` (C5): Kode's words are translated with their places, then entries are read like
 * ours. Never throws.
 */
import { withoutMark } from '../../base/byteOrderMark.js';
import type { Place } from '../../base/problem.js';
import { describe, type Entries, EntryReader } from './entryReader.js';
import { readJson } from '../../yaml/jsonTree.js';
import type { ConfigDeps, ParsedSource, SourceText } from '../model.js';
import type { LayerOf } from './layer.js';
import { accepted, readServers, refused } from './parse.js';
import { FilePlaces } from './places.js';
import { shortened } from '../problems.js';
import {
  isEmpty,
  plainValue,
  valueIn,
  type MapEntry,
  type ValueNode,
} from '../../yaml/valueNodes.js';

export function parseMcprc(source: SourceText, deps: ConfigDeps, layerOf?: LayerOf): ParsedSource {
  if (source.text === undefined || source.text.trim() === '') return accepted(source, [], []);
  const text = withoutMark(source.text);
  const places = new FilePlaces(source.file, text);
  const { errors, root } = readJson(text);
  const reader = new EntryReader(undefined, places, deps, source);
  for (const { what, span } of errors) {
    reader.report('json-syntax', places.visible(span), { what });
  }
  if (reader.failed) return refused(source.file, reader.whole(source.file));
  const servers = serversOf(reader, root);
  if (!servers || reader.failed) return refused(source.file, reader.whole(source.file));
  const entries = [...servers.values()].filter(({ key }) => key !== '$schema');
  const read = readServers(reader, entries, { translated, layerOf });
  return accepted(source, read, reader.whole(source.file));
}

/** Returns the servers of a text in our words and form, for edits of a layer over them (C7). */
export function asMindsText(text: string): string {
  const { root } = readJson(withoutMark(text));
  const servers = valueIn(root, 'mcpServers') ?? root;
  const entries = servers.kind === 'map' ? [...servers.entries.values()] : [];
  const plain = entries.map((entry) => [entry.key, plainValue(translated(entry).value)]);
  return JSON.stringify({ servers: Object.fromEntries(plain) });
}

function serversOf(reader: EntryReader, root: ValueNode): Entries | undefined {
  const { places } = reader;
  const notAMap = (place: Place, what: string, found: ValueNode): undefined =>
    reader.report('servers-not-a-map:ofJson', place, { what, found: describe(found) });
  if (root.kind !== 'map') {
    return notAMap(
      isEmpty(root) ? places.visible(root.span) : places.place(root.span),
      'The file',
      root,
    );
  }
  const nested = root.entries.get('mcpServers');
  const at = places.place(root.span);
  if (!nested) return reader.entries(root, at, 'duplicate-server');
  for (const entry of root.entries.values()) {
    if (entry === nested || entry.key === '$schema') continue;
    reader.report('unknown-key:besideServers', places.key(entry), { key: shortened(entry.key) });
  }
  if (nested.value.kind === 'map') return reader.entries(nested.value, at, 'duplicate-server');
  return notAMap(places.value(nested), '`mcpServers`', nested.value);
}

const httpWords = ['http', 'sse', 'streamable-http', 'streamableHttp', 'streamablehttp'];

/**
 * Returns the entry in our words: `type` is `transport` and may be missing, and `disabled` is the
 * opposite of `enabled`.
 */
function translated(server: MapEntry): MapEntry {
  if (server.value.kind !== 'map') return server;
  const entries = new Map<string, MapEntry>();
  const { entries: written } = server.value;
  for (const entry of written.values()) {
    const { key, value } = entry;
    if (key === 'transport' || (key === 'type' && !written.has('transport'))) {
      const isHttp = value.kind === 'scalar' && httpWords.includes(String(value.value));
      entries.set('transport', {
        ...entry,
        value: isHttp ? { ...value, value: 'streamable_http' } : value,
      });
    } else if (key === 'disabled' && !written.has('enabled')) {
      const isTruth = value.kind === 'scalar' && typeof value.value === 'boolean';
      entries.set('enabled', {
        ...entry,
        value: isTruth ? { ...value, value: !value.value } : value,
      });
    } else entries.set(key, entry);
  }
  if (!entries.has('transport') && written.has('url') !== written.has('command')) {
    const { keySpan: span } = server;
    const source = written.has('url') ? 'streamable_http' : 'stdio';
    const value: ValueNode = {
      kind: 'scalar',
      value: source,
      source,
      span,
    };
    entries.set('transport', {
      key: 'transport',
      keyIsText: true,
      keySpan: span,
      value,
    });
  }
  return { ...server, value: { ...server.value, entries } };
}
