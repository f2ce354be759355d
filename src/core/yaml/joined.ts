import { isEmpty, type MapEntry, type ValueNode } from './valueNodes.js';

/**
 * Maps are joined key by key at every depth, any other value replaces the one below it, and null
 * takes the key away.
 */
export function joined(below: ValueNode | undefined, above: ValueNode): ValueNode {
  if (above.kind !== 'map') return above;
  const base = below?.kind === 'map' ? below : undefined;
  const entries = new Map(base?.entries);
  for (const [key, entry] of above.entries) {
    const under = base?.entries.get(key);
    if (isEmpty(entry.value)) entries.delete(key);
    else entries.set(key, joinedEntry(under, entry));
  }
  return {
    kind: 'map',
    entries,
    duplicates: [...(base?.duplicates ?? []), ...above.duplicates],
    badMerges: [...(base?.badMerges ?? []), ...above.badMerges],
    span: (base ?? above).span,
  };
}

/** A key of both files has its place where its value comes from. */
function joinedEntry(below: MapEntry | undefined, above: MapEntry): MapEntry {
  const areMaps = below?.value.kind === 'map' && above.value.kind === 'map';
  return {
    ...(areMaps ? below : above),
    value: joined(below?.value, above.value),
  };
}
