/** Durations of the config file: numbers of milliseconds or `250ms`, `30s`, `10m` (spec C3). */
import type { EntryReader, Entries } from './entryReader.js';
import { describe } from './entryReader.js';
import type { Timeouts } from './model.js';
import { durationInvalid } from './problems.js';
import type { YamlEntry, YamlNode } from './yamlTree.js';

const second = 1000;
const minute = 60 * second;
const units: Readonly<Record<string, number>> = { ms: 1, s: second, m: minute };

/** Timers of Node and browsers overflow beyond this and fire at once. About 24.8 days. */
const longest = 2 ** 31 - 1;

export const defaultTimeouts: Timeouts = {
  connect: 30 * second,
  call: 30 * second,
  callMax: 10 * minute,
  idle: 15 * minute,
};

export function readTimeouts(reader: EntryReader, entry: YamlEntry | undefined): Timeouts {
  const entries: Entries = reader.table('timeouts', entry, 'Write a map, for example `timeouts: { call: 1m }`.');
  return {
    connect: readDuration(reader, entries.get('connect')) ?? defaultTimeouts.connect,
    call: readDuration(reader, entries.get('call')) ?? defaultTimeouts.call,
    callMax: readDuration(reader, entries.get('callMax')) ?? defaultTimeouts.callMax,
    idle: readDuration(reader, entries.get('idle')) ?? defaultTimeouts.idle,
  };
}

function readDuration(reader: EntryReader, entry: YamlEntry | undefined): number | undefined {
  if (!entry) return undefined;
  const ms = milliseconds(entry.value);
  const fail = (why: string): undefined =>
    reader.note(durationInvalid(reader.atValue(entry), entry.key, `found ${describe(entry.value)}`, why));
  if (ms === undefined) return fail(hint(entry.value));
  if (ms < 1) return fail(', which is less than 1 ms');
  if (ms > longest) return fail(', which is more than 24 days');
  return Math.round(ms);
}

/** Not rounded, not bounded; undefined for what is no duration. */
function milliseconds(node: YamlNode): number | undefined {
  if (node.kind !== 'scalar') return undefined;
  if (typeof node.value === 'number') return Number.isNaN(node.value) ? undefined : node.value;
  if (typeof node.value !== 'string') return undefined;
  const [, amount, unit] = /^(\d+(?:\.\d+)?) ?(ms|s|m)$/.exec(node.value) ?? [];
  const factor = unit === undefined ? undefined : units[unit];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}

function hint(node: YamlNode): string {
  if (node.kind !== 'scalar' || typeof node.value !== 'string') return '';
  if (/^\d+(\.\d+)?$/.test(node.value)) return ', which has no unit';
  return /^[\d.]+ ?(h|d|hours?|days?)$/i.test(node.value) ? ', and minutes are the longest unit' : '';
}
