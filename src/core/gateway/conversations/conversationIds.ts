/**
 * The ids of conversations, and the names from programs for theirs (G3). The editor's ids are bare, so everybody with
 * such an id means the same conversation. Every other id has a prefix, and the editor's ids never have one. So an
 * identity of one kind never leads to a conversation of another kind (G3d). Everything here is pure.
 */
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';

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
 * Codex 0.169.0 names the thread of every call, and its threads may share a session. So may the chats of
 * the editor, if it starts an entry of its `mcp.json`. Claude Code 2.1.330, Copilot CLI 1.0.102 and the clients of the SDK name none. A
 * name counts only for its own program, and only if it is unique.
 */
interface Naming {
  /** Its name in `clientInfo`. */
  readonly program: string;
  /** The key in `_meta`. */
  readonly key: string;
}

const namings: readonly Naming[] = [
  { program: 'codex-mcp-client', key: 'threadId' },
  ...['Visual Studio Code', 'Visual Studio Code - Insiders', 'VSCodium', 'Code - OSS'].map((program) => ({
    program,
    key: conversationKey,
  })),
];

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** In characters. The ids of sessions contain the name. */
export const longestProgram = 80;

/** Returns the name of a client's program, for people. It is empty if the client gave none. */
export function programOf(clientInfo: unknown): string {
  const name = isObject(clientInfo) ? clientInfo['name'] : undefined;
  return typeof name === 'string' ? name.slice(0, longestProgram) : '';
}

/**
 * Returns the name of a program with a known key for conversations.
 * @param isAtEditors true at the editor's own paths, where its ids are bare
 */
export function namerOf(clientInfo: unknown, isAtEditors = false): string | undefined {
  const name = isObject(clientInfo) ? clientInfo['name'] : undefined;
  const naming = namings.find(({ program }) => program === name);
  return isAtEditors && naming?.key === conversationKey ? undefined : naming?.program;
}

/** Returns the name of the conversation in a call of this program. */
export function namedBy(program: string, meta: Fields | undefined): string | undefined {
  const naming = namings.find((one) => one.program === program);
  const said = naming && meta?.[naming.key];
  return typeof said === 'string' && uuid.test(said) ? said : undefined;
}
