/**
 * The ids of conversations (G3). All but the editor's have a prefix, so no id fits two kinds (G3d).
 * Some programs name the conversation of each request.
 */
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';

const conversationKey = 'vscode.conversationId';

const prefixes = ['mcp-session:', 'mcp-address:', 'mcp-named:'];

/** Another program never gets the same id. */
export const namedConversation = (program: string, name: string): string =>
  `mcp-named:${program}:${name}`;

export function conversationOf(meta: Fields | undefined): string | undefined {
  const conversation = meta?.[conversationKey];
  if (typeof conversation !== 'string' || conversation === '') return undefined;
  return prefixes.some((prefix) => conversation.startsWith(prefix)) ? undefined : conversation;
}

/**
 * The `_meta` key for the conversation. Claude Code 2.1.330, Copilot CLI 1.0.102 and the SDK's
 * clients have none.
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

/** Returns the name for people; empty if the client gave none. */
export function programOf(clientInfo: unknown): string {
  return (nameIn(clientInfo) ?? '').slice(0, longestProgram);
}

function nameIn(clientInfo: unknown): string | undefined {
  const name = isObject(clientInfo) ? clientInfo['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** @param isAtEditors true at the editor's own paths, where its ids are bare */
export function namerOf(clientInfo: unknown, isAtEditors = false): string | undefined {
  const name = nameIn(clientInfo);
  const key = namings.get(name);
  return key === undefined || (isAtEditors && key === conversationKey) ? undefined : name;
}

export function namedBy(program: string, meta: Fields | undefined): string | undefined {
  const key = namings.get(program);
  const said = key === undefined ? undefined : meta?.[key];
  return typeof said === 'string' && uuid.test(said) ? said : undefined;
}
