/**
 * The normal form of a URI for patterns (N2a), by the most liberal reading of its path. An
 * ambiguous URI has none.
 */
import { isMadeOf } from '../base/partsInOrder.js';
import { unlessThrown } from '../base/unlessThrown.js';
import type { NameFilter } from '../config/model.js';
import {
  compileFilter,
  compilePattern,
  type CompiledFilter,
  type ListedPattern,
  type Pattern,
} from './patterns.js';

export const longestUri = 8 * 1024;

function canonicalUri(uri: string): string | undefined {
  if (uri.length > longestUri || uri !== uri.trim()) return undefined;
  const [, scheme = '', location = '', more = ''] =
    /^([a-z][a-z0-9+.-]*:)?([^?#]*)(.*)$/is.exec(uri) ?? [];
  const path = decoded(location)?.replaceAll('\\', '/');
  const tail = decoded(more);
  if (path === undefined || tail === undefined) return undefined;
  // A server without support for queries would take it for a part of the path.
  if (stepsUp(tail) > 0) return undefined;
  const { root, inner } = parted(scheme, path);
  return `${scheme.toLowerCase()}${root}${resolved(inner, root !== '')}${tail}`;
}

function canonicalUriPattern(pattern: string): string {
  if (!pattern.includes('*')) return canonicalUri(pattern) ?? pattern;
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:)?(.*)$/is.exec(pattern) ?? [];
  const { root, inner } = parted(scheme, decoded(rest) ?? rest);
  return `${scheme.toLowerCase()}${root}${inner.replace(/\/{2,}/g, '/')}`;
}

/** Returns undefined for control characters, for invalid UTF-8, and for double encoding. */
function decoded(text: string): string | undefined {
  const plain = unescaped(text);
  if (plain === undefined || /[\0-\x1f\x7f]|%[0-9a-f]{2}/i.test(plain)) return undefined;
  return plain.normalize('NFC');
}

/** Returns undefined for invalid UTF-8. */
function unescaped(text: string): string | undefined {
  return unlessThrown(() => text.replace(/(?:%[0-9a-f]{2})+/gi, decodeURIComponent));
}

/** An attack encodes a text a few times. A text that is encoded more often counts as one. */
const mostEncodings = 5;

/**
 * Counts the steps `..` of a path in the most liberal reading: encoded, in wide or invisible
 * characters, in any frame.
 */
export function stepsUp(text: string): number {
  let plain = text;
  for (let times = 0; ; times++) {
    const next = unescaped(plain);
    if (next === undefined || times > mostEncodings) return Infinity;
    if (next === plain) break;
    plain = next;
  }
  const seen = plain.normalize('NFKC').replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  return [...seen.matchAll(/(?<![\p{L}\p{N}\p{M}._-])\.\p{Cc}*\.(?![\p{L}\p{N}\p{M}._-])/gu)]
    .length;
}

/**
 * Separates the root from the part in reach of `..`. Servers tend to read all of `note://a/b` as a
 * path.
 */
function parted(scheme: string, text: string): { readonly root: string; readonly inner: string } {
  if (!/^(https?|wss?|ftp|file):$/i.test(scheme)) {
    const [slashes = ''] = /^\/*/.exec(text) ?? [];
    return { root: slashes === '' ? '' : '//', inner: text.slice(slashes.length) };
  }
  const [, authority = '', path = ''] = /^(\/\/[^/*]*(?=\/|$))?(.*)$/s.exec(text) ?? [];
  const host = authority.toLowerCase();
  const [slashes = ''] = /^\/*/.exec(path) ?? [];
  const root = /^file:$/i.test(scheme) && host === '//localhost' ? '//' : host;
  return { root: slashes === '' ? root : `${root}/`, inner: path.slice(slashes.length) };
}

/** @param isRooted true if a leading `..` leads nowhere */
function resolved(path: string, isRooted: boolean): string {
  const kept: string[] = [];
  for (const segment of path.split(/\/+/)) {
    if (segment === '..' && (isRooted || (kept.length > 0 && kept.at(-1) !== '..'))) kept.pop();
    else if (segment !== '.' && segment !== '') kept.push(segment);
  }
  return kept.join('/');
}

/**
 * Compiles the lists of a filter for URIs. A URI without a form is on every blacklist and on no
 * whitelist.
 */
export function compileUriFilter(filter: NameFilter): CompiledFilter {
  const { whitelist, blacklist } = compileFilter(filter);
  // Each URI is matched against all patterns before the next one, and to find its form takes longer
  // than to match it.
  let last: { readonly uri: string; readonly form: string | undefined } | undefined;
  const formOf = (uri: string): string | undefined => {
    if (last?.uri !== uri) last = { uri, form: canonicalUri(uri) };
    return last.form;
  };
  const compiled = ({ text, index }: ListedPattern, isOnWithoutForm: boolean): ListedPattern => {
    const pattern = compileUriPattern(text);
    const matches = (uri: string): boolean => {
      const form = formOf(uri);
      return form === undefined ? isOnWithoutForm : pattern.matches(form);
    };
    return {
      ...pattern,
      text,
      index,
      matches,
    };
  };
  return {
    whitelist: whitelist.map((pattern) => compiled(pattern, false)),
    blacklist: blacklist.map((pattern) => compiled(pattern, true)),
  };
}

function compileUriPattern(text: string): Pattern {
  if (text.length > longestUri)
    return {
      text,
      steps: () => 0,
      longest: 0,
      matches: () => false,
    };
  return compilePattern(canonicalUriPattern(text));
}

const expression = /\{[^{}]*\}/g;

export function isTemplate(uri: string): boolean {
  return uri.search(expression) >= 0;
}

/**
 * The most characters of the templates times those of the URI, because a comparison may take that
 * many steps.
 */
const mostSteps = 20_000_000;

/**
 * True if one of the templates may make the URI, because its literal parts are in the URI in order.
 * @param inDoubt the answer if the comparison would take too long
 */
export function isMadeFrom(templates: readonly string[], uri: string, inDoubt = false): boolean {
  const form = canonicalUri(uri);
  if (form === undefined) return false;
  const length = templates.reduce((sum, template) => sum + template.length, 0);
  if (form.length * length > mostSteps) return inDoubt;
  return templates.some((template) =>
    isMadeOf(form, canonicalUriPattern(template.replace(expression, '*')).split('*')),
  );
}
