/** Checks the page of an app in a server's answer (G8). A fault is a phrase. */
import { english } from '../base/language.js';
import { asFields, asList, isObject, type Fields } from '../base/isObject.js';
import { asText } from '../base/text.js';

const appType = 'text/html;profile=mcp-app';

/**
 * The largest page in bytes. A page with its libraries has a few hundred kilobytes, and three
 * megabytes at most.
 */
const largestApp = 8 << 20;

type Contents = readonly Fields[];

export interface AppPage {
  readonly html: string;
  /** `_meta.ui` of the resource. */
  readonly ui: Fields;
}

export function readAppPage(uri: string, contents: unknown): AppPage | { readonly wrong: string } {
  const wrong = appFault(uri, contents);
  if (wrong !== undefined) return { wrong };
  const [{ text, blob, _meta: meta } = {}] = objectsIn(contents);
  const html = typeof text === 'string' ? text : Buffer.from(asText(blob), 'base64').toString();
  return { html, ui: asFields(asFields(meta)['ui']) };
}

export function appFault(uri: string, contents: unknown): string | undefined {
  if (!uri.startsWith('ui://')) return 'its address does not begin with ui://';
  const [first] = objectsIn(contents);
  if (!first) return 'the server has no such resource';
  const tooLarge = appTooLarge(contents);
  if (tooLarge !== undefined) return tooLarge;
  const { mimeType, text, blob } = first;
  if (plainType(mimeType) !== appType) {
    return english`its media type is ${typeof mimeType === 'string' ? JSON.stringify(mimeType) : 'not given'}, but an app's must be ${appType}`;
  }
  return typeof text === 'string' || typeof blob === 'string'
    ? undefined
    : 'the resource has no content';
}

export function appTooLarge(contents: unknown): string | undefined {
  const bytes = Math.ceil(bytesIn(objectsIn(contents)));
  return bytes <= largestApp
    ? undefined
    : english`it has ${bytes} bytes, but an app may have at most ${largestApp}`;
}

export function bytesIn(contents: Contents): number {
  return contents.reduce((sum, { text, blob }) => sum + sizeOf(text, 1) + sizeOf(blob, 3 / 4), 0);
}

function sizeOf(content: unknown, share: number): number {
  return typeof content === 'string' ? Buffer.byteLength(content) * share : 0;
}

function objectsIn(contents: unknown): Contents {
  return asList(contents).filter(isObject);
}

/** Parameters of media types may have blanks before them, and case does not count. */
function plainType(type: unknown): string {
  return typeof type === 'string' ? type.slice(0, 1_000).replace(/\s+/g, '').toLowerCase() : '';
}
