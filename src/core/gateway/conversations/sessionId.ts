/**
 * Writes and reads ids of sessions. Beside what makes it unique, an id carries what its client said of itself, so that
 * a session can be revived of which nothing else is known any more. The client sends it back; it is read without trust.
 * Everything here is pure.
 */
import { randomUUID } from 'node:crypto';
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';
import { isProtocolVersion, type ProtocolVersion } from '../../protocol/versions.js';

/** In bytes. Capabilities that make it longer are not carried: an id is a header of every request. */
const longestDeclaration = 400;

/** What a client says of itself at `initialize` and that counts for its whole session. */
export interface SessionTraits {
  /** The capabilities that it declared. */
  readonly declared: Fields;
  /** Whether its model gets nothing of a result but the structured content, where there is one. */
  readonly readsStructureAlone: boolean;
  /** The version that was agreed on, where the id is of a session that has begun. Some clients send no header with it. */
  readonly version?: ProtocolVersion;
  /** The program, where it is one that says with every call which of its conversations calls. */
  readonly namer?: string | undefined;
  /** The program, with its version, of an agent-host session of the editor; absent for all others. */
  readonly agentHost?: string;
}

export function newSessionId(traits: SessionTraits, version: ProtocolVersion): string {
  const { declared, readsStructureAlone, agentHost, namer } = traits;
  const id = randomUUID();
  // Without the rest, conversations that share a session would share an instance in it.
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

/** Returns what the client of a session said of itself, or undefined where the id is none of ours. */
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
