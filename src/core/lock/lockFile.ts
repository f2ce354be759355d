/**
 * `.minds/mcp.lock` as a value (S3d): for each server of a folder, its package and the SHA-256
 * digests of what it says. The text is the same on every machine, with one entry a line, because
 * people merge it. Reading never guesses: a text with an unknown part locks nothing.
 */
import {
  absentDigests,
  keyOf,
  partsOf,
  type LockedOffer,
  type LockedOffers,
} from '../approval/offerPrints.js';
import { canonicalJson } from '../base/canonicalJson.js';
import { hasFields, isObject, type Fields } from '../base/isObject.js';
import { english } from '../base/language.js';
import { storedJson } from '../protocol/json.js';

export interface LockedPackage {
  readonly launcher: string;
  readonly name: string;
  readonly version?: string;
  readonly integrity?: string;
}

export interface LockedServer {
  readonly package?: LockedPackage | undefined;
  /** Under their original names. */
  readonly offers: LockedOffers;
}

export type Lock = ReadonlyMap<string, LockedServer>;

const version = 1;

/** Resources and templates are not locked, because their lists often name files of one machine. */
const kinds = { instructions: 'instructions', tools: 'tool', prompts: 'prompt' } as const;
const sections = Object.entries(kinds);

/** The parts that a server says. The override of a tool is the file's. */
export function lockedParts(kind: LockedOffer['kind']): readonly string[] {
  return partsOf[kind].filter((part) => part !== 'override');
}

/** Returns the lock, or a phrase with the reason why the text is none. */
export function readLock(text: string): Lock | string {
  const read = storedJson(text);
  if (!isObject(read)) return english`it is no whole JSON object`;
  if (read['version'] !== version) return english`another version of MCP Toolsets wrote it`;
  const { servers } = read;
  if (!isObject(servers)) return english`it has no map \`servers\``;
  const lock = new Map<string, LockedServer>();
  for (const [id, entry] of Object.entries(servers)) {
    const server = isObject(entry) && readServer(entry);
    if (!server) return english`its entry of "${id}" is not as this version writes it`;
    lock.set(id, server);
  }
  return lock;
}

function readServer({ package: named, ...said }: Fields): LockedServer | undefined {
  if (named !== undefined && !isPackage(named)) return undefined;
  if (Object.keys(said).some((section) => !Object.hasOwn(kinds, section))) return undefined;
  const offers = new Map<string, LockedOffer>();
  for (const [section, kind] of sections) {
    const given = said[section] ?? {};
    if (!isObject(given)) return undefined;
    const isOne = kind === 'instructions' && section in said;
    for (const [original, parts] of Object.entries(isOne ? { '': given } : given)) {
      const offer = lockedOffer(kind, original, parts);
      if (!offer) return undefined;
      offers.set(keyOf(offer), offer);
    }
  }
  return { package: named, offers };
}

function lockedOffer(
  kind: LockedOffer['kind'],
  original: string,
  said: unknown,
): LockedOffer | undefined {
  const parts = lockedParts(kind);
  if (!isObject(said) || Object.keys(said).some((part) => !parts.includes(part))) return undefined;
  const digests = parts.map((part) => said[part] ?? absentDigests[part]);
  return digests.every(isDigest) ? { kind, original, digests } : undefined;
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{43}$/.test(value);
}

function isPackage(value: unknown): value is LockedPackage {
  const types = { launcher: 'string', name: 'string', version: 'string?', integrity: 'string?' };
  return hasFields(value, types);
}

export function writtenLock(lock: Lock): string {
  const entries = [...lock].map(([id, server]) => [id, entryOf(server)] as const);
  const servers = Object.fromEntries(entries);
  const sorted: unknown = JSON.parse(canonicalJson({ version, servers }));
  const text = JSON.stringify(sorted, null, 2);
  // No line break is within a text, so this changes only the layout.
  const inOneLine = (innermost: string): string => innermost.replace(/\n */g, ' ');
  return `${text.replace(/\{\n[^{}]*\}/g, inOneLine)}\n`;
}

function entryOf({ package: named, offers }: LockedServer): Fields {
  const all = [...offers.values()];
  const said: Record<string, Record<string, Fields>> = {};
  for (const [section, kind] of sections) {
    const own = all.filter((one) => one.kind === kind);
    if (own.length === 0) continue;
    const digests = own.map((one) => [one.original, namedDigests(one)] as const);
    said[section] = Object.fromEntries(digests);
  }
  const { instructions, ...others } = said;
  return {
    package: named,
    instructions: instructions?.[''],
    ...others,
  };
}

function namedDigests({ kind, digests }: LockedOffer): Fields {
  const named = lockedParts(kind).map((part, index) => [part, digests[index]] as const);
  return Object.fromEntries(named.filter(([part, digest]) => absentDigests[part] !== digest));
}
