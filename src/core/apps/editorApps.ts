/**
 * Carries through the editor what it does not carry itself (G8, measured on VS Code 1.139.1). The editor hands an app our
 * result as it is, and gives the model the structure in the place of every text; and what an app calls comes without a
 * word about the conversation that opened it. So the result that a model reads has the app's part in `_meta`, with a
 * token that stands for the conversation; and the page of the app begins with a script that puts that part in its place
 * before the app sees it, and adds the token to what the app asks. Where the script does not run, an app goes on
 * without. Everything here is pure.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../base/isObject.js';
import { withHeadScript } from './headScript.js';

type Fields = Readonly<Record<string, unknown>>;

/** The key in `_meta` of a result, and among the arguments of a call. */
const appKey = 'mcp-toolsets/app';

const uriMark = `#${appKey}=`;

/**
 * Adds what the app is to see to the result that the model reads.
 * @param forModel without notes
 * @param given the result as the server gave it
 * @param token stands for the conversation
 */
export function withAppPart(forModel: CallToolResult, given: CallToolResult, token: string): CallToolResult {
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

/** What an app asks, without the token; an app that was not told its token has an empty one. */
export function withoutToken<Asked extends Fields>(asked: Asked): { readonly asked: Asked; readonly token?: string } {
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
 * Puts the script into the page of each app that was read, where the editor puts its own, which comes before it. Media types
 * and `_meta` stay as they are.
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

/** Nothing in it is replaced by a bundler, because it is a text. It must not hold the end of a script element. */
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
