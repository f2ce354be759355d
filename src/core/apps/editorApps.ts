/**
 * In VS Code 1.139.1, structure replaces every text for the model, and a call of an app does not
 * name its conversation. So `_meta` has the app's part and a token for the conversation, and a
 * script in the page uses both (G8).
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { isObject, type Fields } from '../base/isObject.js';

/** The key in `_meta` of a result, and among the arguments of a call. */
const appKey = 'mcp-toolsets/app';

const uriMark = `#${appKey}=`;

/**
 * @param forModel without notes. `given` is the server's own result, and `token` identifies the
 * conversation.
 */
export function withAppPart(
  forModel: CallToolResult,
  given: CallToolResult,
  token: string,
): CallToolResult {
  // Servers promise a list and may send none.
  const isGiven =
    Array.isArray(given.content) &&
    forModel.content.length === given.content.length &&
    forModel.content.every((part, index) => part === given.content[index]);
  const part = {
    token,
    ...(isGiven ? { parts: given.content.length } : { content: given.content ?? [] }),
    ...(given.structuredContent !== undefined && { structuredContent: given.structuredContent }),
  };
  return { ...forModel, _meta: { ...forModel._meta, [appKey]: part } };
}

/** Splits the token off an app's request. An app that received no token has an empty one. */
export function withoutToken<Asked extends Fields>(
  asked: Asked,
): { readonly asked: Asked; readonly token?: string } {
  const { uri, arguments: given } = asked;
  if (isObject(given) && typeof given[appKey] === 'string') {
    const { [appKey]: token, ...rest } = given;
    return { asked: { ...asked, arguments: rest }, token };
  }
  const at = typeof uri === 'string' ? uri.lastIndexOf(uriMark) : -1;
  if (typeof uri !== 'string' || at < 0) return { asked };
  return { asked: { ...asked, uri: uri.slice(0, at) }, token: uri.slice(at + uriMark.length) };
}

/**
 * Puts the script into the page of each app, behind the editor's own. Media types and `_meta` stay
 * the same.
 */
export function withScript(result: Fields): Fields {
  const { contents } = result;
  if (!Array.isArray(contents)) return result;
  return { ...result, contents: (contents as unknown[]).map(contentsWithScript) };
}

function contentsWithScript(contents: unknown): unknown {
  if (!isObject(contents)) return contents;
  const { text, blob } = contents;
  if (typeof text === 'string') return { ...contents, text: withHeadScript(text, script) };
  if (typeof blob !== 'string') return contents;
  const page = withHeadScript(Buffer.from(blob, 'base64').toString(), script);
  return { ...contents, blob: Buffer.from(page).toString('base64') };
}

/**
 * Takes time linear in the length of the page. The script must not hold the end of a script
 * element.
 */
export function withHeadScript(page: string, script: string): string {
  const at = endOf(page, /<head/i) ?? endOf(page, /<html/i) ?? endOf(page, /<!doctype/i) ?? 0;
  return `${page.slice(0, at)}<script>${script}</script>${page.slice(at)}`;
}

/** If the first such tag is not closed, no later one is. */
function endOf(page: string, tag: RegExp): number | undefined {
  const from = page.search(tag);
  const end = from < 0 ? -1 : page.indexOf('>', from);
  return end < 0 ? undefined : end + 1;
}

/**
 * A bundler replaces nothing in it, because it is a text. It must not hold the end of a script
 * element.
 */
const script = `(() => {
  const key = ${JSON.stringify(appKey)};
  let token = '';
  window.addEventListener('message', ({ data }) => {
    const params = data && data.method === 'ui/notifications/tool-result' ? data.params : undefined;
    const part = params && params._meta && params._meta[key];
    if (!part) return;
    token = part.token;
    delete params._meta[key];
    if (Object.keys(params._meta).length === 0) delete params._meta;
    if (part.content) params.content = part.content;
    else params.content.length = part.parts;
    if (part.structuredContent !== undefined) params.structuredContent = part.structuredContent;
  });
  const withToken = (message) => {
    const params = message && message.params;
    if (!params) return message;
    if (message.method === 'tools/call') {
      return { ...message, params: { ...params, arguments: { ...params.arguments, [key]: token } } };
    }
    if (message.method !== 'resources/read') return message;
    return { ...message, params: { ...params, uri: params.uri + '#' + key + '=' + token } };
  };
  const send = window.parent.postMessage;
  window.parent.postMessage = (message, ...rest) => send(withToken(message), ...rest);
})();`;
