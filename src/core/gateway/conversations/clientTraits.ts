import { randomUUID } from 'node:crypto';
import { isObject } from '../../base/isObject.js';
import { unlessThrown } from '../../base/unlessThrown.js';
import type { Fields } from '../../protocol/client.js';
import {
  isProtocolVersion,
  type ProtocolVersion,
  type SpokenVersion,
} from '../../protocol/versions.js';

/** The client's statements about itself. */
export interface ClientTraits {
  /** The name for people; empty if the client gave none. */
  readonly program: string;
  readonly version: SpokenVersion;
  readonly declared: Fields;
  readonly readsStructureAlone: boolean;
  /** The program, if it names the conversation of every call. */
  readonly namer: string | undefined;
  /** The program and its version, only for an agent-host session of the editor. */
  readonly agentHost: string | undefined;
}

/** In bytes. Longer capabilities are left out, because every request has the id in a header. */
const longestDeclaration = 400;

/** The part of the traits in the id of a session, from which the session can be revived. */
interface TraitsInId extends Omit<ClientTraits, 'program' | 'version'> {
  readonly version: ProtocolVersion | undefined;
}

export function newSessionId({
  version,
  declared,
  readsStructureAlone,
  agentHost,
  namer,
}: TraitsInId): string {
  // Without these fields, conversations in one session would share an instance.
  const said = {
    version,
    host: agentHost,
    alone: readsStructureAlone || undefined,
    namer,
  };
  const whole = JSON.stringify(Object.keys(declared).length > 0 ? { ...said, declared } : said);
  const kept = Buffer.byteLength(whole) > longestDeclaration ? JSON.stringify(said) : whole;
  return `${randomUUID()}.${Buffer.from(kept).toString('base64url')}`;
}

/** Returns undefined for a text that is no id of ours. */
export function traitsIn(id: string): TraitsInId | undefined {
  const [whole, declaration] = /^[0-9a-f-]{36}(?:\.([A-Za-z0-9_-]{1,600}))?$/.exec(id) ?? [];
  if (whole === undefined) return undefined;
  const said =
    declaration === undefined
      ? {}
      : unlessThrown<unknown>(() => JSON.parse(Buffer.from(declaration, 'base64url').toString()));
  if (!isObject(said)) return undefined;
  const { declared = {}, alone, version, host, namer } = said;
  if (!isObject(declared)) return undefined;
  return {
    declared,
    readsStructureAlone: alone === true,
    // Some clients send no header with the version.
    version: typeof version === 'string' && isProtocolVersion(version) ? version : undefined,
    agentHost: textIn(host),
    namer: textIn(namer),
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
