/**
 * The ids of conversations, and the names by which programs identify theirs (G3). The editor's ids are bare, so everybody
 * who knows such an id means the same conversation. Every other id has a prefix that no id of the editor can have. So an
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

/** Returns the id of the conversation of a session. */
export function sessionConversation(sessionId: string): string {
  return prefixes.session + sessionId;
}

/** Returns the id of the conversation with this address. */
export function addressConversation(address: string): string {
  return prefixes.address + address;
}

/** Returns the id of a conversation that a program names. Another program never gets the same id. */
export function namedConversation(program: string, name: string): string {
  return `${prefixes.named}${program}:${name}`;
}

/** Returns the id that the editor names, if it names one. */
export function conversationOf(meta: Fields | undefined): string | undefined {
  const conversation = meta?.[conversationKey];
  if (typeof conversation !== 'string' || conversation === '') return undefined;
  return Object.values(prefixes).some((prefix) => conversation.startsWith(prefix)) ? undefined : conversation;
}

/**
 * Codex 0.169.0 names the thread of every call, and its threads may share a session. Claude Code 2.1.330, Copilot CLI 1.0.102
 * and the clients of the SDK name none. A name counts only under the name of its program, and only if it is unique.
 */
interface Naming {
  /** The name that the program gives itself. */
  readonly program: string;
  /** The key in `_meta`. */
  readonly key: string;
}

const namings: readonly Naming[] = [{ program: 'codex-mcp-client', key: 'threadId' }];

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns the name of a program that names the conversation of every call. */
export function namerOf(clientInfo: unknown): string | undefined {
  const name = isObject(clientInfo) ? clientInfo['name'] : undefined;
  return namings.find(({ program }) => program === name)?.program;
}

/** Returns the name that a call of this program carries. */
export function namedBy(program: string, meta: Fields | undefined): string | undefined {
  const naming = namings.find((one) => one.program === program);
  const said = naming && meta?.[naming.key];
  return typeof said === 'string' && uuid.test(said) ? said : undefined;
}
