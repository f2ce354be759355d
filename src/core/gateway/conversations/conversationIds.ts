/**
 * The ids of conversations, and the names from programs for theirs (G3). The editor's ids are bare, so everybody with
 * such an id means the same conversation. Every other id has a prefix, and the editor's ids never have one. So an
 * identity of one kind never leads to a conversation of another kind (G3d). Everything here is pure.
 */
import { randomUUID } from 'node:crypto';
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';
import { isProtocolVersion, type ProtocolVersion } from '../../protocol/versions.js';

const prefixes = {
  session: 'mcp-session:',
  address: 'mcp-address:',
  named: 'mcp-named:',
} as const;
const conversationKey = 'vscode.conversationId';

export function sessionConversation(sessionId: string): string {
  return prefixes.session + sessionId;
}

export function addressConversation(address: string): string {
  return prefixes.address + address;
}

/** Returns the id of a conversation with a name. Another program never gets the same id. */
export function namedConversation(program: string, name: string): string {
  return `${prefixes.named}${program}:${name}`;
}

/** Returns the conversation named by the editor, if any. */
export function conversationOf(meta: Fields | undefined): string | undefined {
  const conversation = meta?.[conversationKey];
  if (typeof conversation !== 'string' || conversation === '') return undefined;
  return Object.values(prefixes).some((prefix) => conversation.startsWith(prefix)) ? undefined : conversation;
}

/**
 * By program, the key in `_meta` that names the conversation. Codex 0.169.0 names the thread of every call, and its
 * threads may share a session. So may the chats of the editor, if it starts an entry of its `mcp.json`. Claude Code
 * 2.1.330, Copilot CLI 1.0.102 and the clients of the SDK name none. A name counts only for its own program, and only
 * if it is unique.
 */
const namings: ReadonlyMap<unknown, string> = new Map([
  ['codex-mcp-client', 'threadId'],
  ['Visual Studio Code', conversationKey],
  ['Visual Studio Code - Insiders', conversationKey],
  ['VSCodium', conversationKey],
  ['Code - OSS', conversationKey],
]);

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** In characters. The ids of sessions contain the name. */
export const longestProgram = 80;

/** Returns the name of a client's program, for people. It is empty if the client gave none. */
export function programOf(clientInfo: unknown): string {
  return (nameIn(clientInfo) ?? '').slice(0, longestProgram);
}

function nameIn(clientInfo: unknown): string | undefined {
  const name = isObject(clientInfo) ? clientInfo['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/**
 * Returns the name of a program with a known key for conversations.
 * @param isAtEditors true at the editor's own paths, where its ids are bare
 */
export function namerOf(clientInfo: unknown, isAtEditors = false): string | undefined {
  const name = nameIn(clientInfo);
  const key = namings.get(name);
  return key === undefined || (isAtEditors && key === conversationKey) ? undefined : name;
}

/** Returns the name of the conversation in a call of this program. */
export function namedBy(program: string, meta: Fields | undefined): string | undefined {
  const key = namings.get(program);
  const said = key === undefined ? undefined : meta?.[key];
  return typeof said === 'string' && uuid.test(said) ? said : undefined;
}

/** In bytes. Longer capabilities are left out, because every request has the id in a header. */
const longestDeclaration = 400;

/**
 * The client's statements at `initialize`, valid for the whole session. Its id carries them, so it can be revived
 * without other knowledge.
 */
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
  // Without these fields, conversations in one session would share an instance.
  const said = { version, host: agentHost, alone: readsStructureAlone || undefined, namer };
  const whole = JSON.stringify(Object.keys(declared).length > 0 ? { ...said, declared } : said);
  const kept = Buffer.byteLength(whole) > longestDeclaration ? JSON.stringify(said) : whole;
  return `${randomUUID()}.${Buffer.from(kept).toString('base64url')}`;
}

/** Returns undefined if the id is not ours. */
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
