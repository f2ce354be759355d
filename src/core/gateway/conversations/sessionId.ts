/**
 * Writes and reads ids of sessions. An id carries the client's own statements at `initialize`, so a session can be
 * revived without other knowledge. The client sends the id back, so it is read without trust. Everything here is
 * pure.
 */
import { randomUUID } from 'node:crypto';
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';
import { isProtocolVersion, type ProtocolVersion } from '../../protocol/versions.js';

/** In bytes. Longer capabilities are left out, because every request has the id in a header. */
const longestDeclaration = 400;

/** The client's statements at `initialize`, valid for the whole session. */
export interface SessionTraits {
  readonly declared: Fields;
  /** True if its model sees only `structuredContent`. */
  readonly readsStructureAlone: boolean;
  /** The negotiated version, if a session has begun. Some clients send no header with it. */
  readonly version?: ProtocolVersion;
  /** The program, if it names the conversation of every call. */
  readonly namer?: string | undefined;
  /** The program and its version, only for an agent-host session of the editor. */
  readonly agentHost?: string;
}

export function newSessionId(traits: SessionTraits, version: ProtocolVersion): string {
  const { declared, readsStructureAlone, agentHost, namer } = traits;
  const id = randomUUID();
  // Without these fields, conversations in one session would share an instance.
  const said = {
    version,
    ...(agentHost !== undefined && { host: agentHost }),
    ...(readsStructureAlone && { alone: true }),
    ...(namer !== undefined && { namer }),
  };
  const whole = Object.keys(declared).length > 0 ? { ...said, declared } : said;
  const json = Buffer.from(JSON.stringify(whole));
  const kept = json.length > longestDeclaration ? Buffer.from(JSON.stringify(said)) : json;
  return `${id}.${kept.toString('base64url')}`;
}

/** Returns the client's statements, or undefined if the id is not ours. */
export function traitsIn(id: string): SessionTraits | undefined {
  const [, uuid, declaration = ''] = /^([0-9a-f-]{36})(?:\.([A-Za-z0-9_-]{1,600}))?$/.exec(id) ?? [];
  if (uuid === undefined) return undefined;
  if (declaration === '') return { declared: {}, readsStructureAlone: false };
  try {
    const said: unknown = JSON.parse(Buffer.from(declaration, 'base64url').toString());
    if (!isObject(said)) return undefined;
    const { declared = {}, alone, version, host, namer } = said;
    if (!isObject(declared)) return undefined;
    const spoken = typeof version === 'string' && isProtocolVersion(version) ? { version } : {};
    const program = typeof host === 'string' && { agentHost: host };
    const naming = typeof namer === 'string' && { namer };
    return { declared, readsStructureAlone: alone === true, ...spoken, ...program, ...naming };
  } catch {
    return undefined;
  }
}
