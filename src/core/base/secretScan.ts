/**
 * Finds secrets by names beside them and by shape. It is linear (S2), so it looks back only so many
 * characters.
 */
import { inReadings, type Span } from './readings.js';
import {
  isNoValue,
  isRandom,
  isToken,
  isTrivial,
  nameStrength,
  tokenBeginnings,
} from './secretNames.js';
import type { NameStrength } from './secretNames.js';

/** The place of a secret. `environment` marks any value of an environment. */
export interface Found extends Span {
  readonly kind: 'secret' | 'environment';
}

const anchors = new RegExp(
  [
    '-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----',
    ':\\/\\/',
    '[=:]',
    '\\b(?:[Bb]earer|BEARER|[Bb]asic|BASIC)[ \\t]{1,8}(?=[A-Za-z0-9._~+/=-])',
    '(?<![\\w-])--?[A-Za-z][\\w-]{0,63}(?=["\']?[ \\t,])',
    `(?<![A-Za-z0-9_])(?:${tokenBeginnings})(?=[\\w-])`,
  ].join('|'),
  'g',
);

const space = /[ \t]{0,8}/y;
const openingQuote = /(?:\\?["'])?/y;
const credentials = /[A-Za-z0-9._~+/=-]+/y;
const tokenWord = /[\w.~+/=-]+/y;
const plainWord = /^[A-Za-z]{1,15}[.,;:!?]?$/;
const longestLookBack = 96;
const mostNames = 256;
const prose =
  /^(?:a|an|and|are|argument|be|before|can|flag|for|from|has|if|in|is|it|missing|must|needs?|not|of|on|option|or|required|set|should|the|to|value|was|when|with)[.,;:!?]?$/i;

export function findSecrets(text: string): readonly Found[] {
  return inReadings(text, (reading) => new Scan(reading).run());
}

class Scan {
  private readonly found: Found[] = [];
  private readonly strengths = new Map<string, NameStrength>();
  /** The word of the last address: its end, and its last `@`. */
  private wordEnd = -1;
  private lastAt = -1;

  constructor(private readonly text: string) {}

  run(): Found[] {
    const { text } = this;
    for (let at = 0; ;) {
      anchors.lastIndex = at;
      const match = anchors.exec(text);
      if (!match) return this.found;
      const [anchor] = match;
      const after = match.index + anchor.length;
      at = Math.max(after, this.passed(anchor, match.index, after));
    }
  }

  private passed(anchor: string, at: number, after: number): number {
    if (anchor === '://') return this.address(at, after);
    if (anchor === '=' || anchor === ':') return this.pair(at, after);
    if (anchor.startsWith('-----')) return this.privateKey(after);
    if (anchor.startsWith('-')) return this.option(anchor, after);
    if (/^b/i.test(anchor) && /[ \t]$/.test(anchor)) return this.bearer(after);
    return this.token(at);
  }

  private add(start: number, end: number, kind: Found['kind'] = 'secret'): number {
    if (end > start) this.found.push({ start, end, kind });
    return end;
  }

  private privateKey(after: number): number {
    const end = this.text.indexOf('-----END', after);
    return this.add(after, end < 0 ? this.text.length : end);
  }

  private bearer(after: number): number {
    const end = this.endOf(credentials, after);
    const value = this.text.slice(after, Math.min(end, after + 40));
    return end - after < 6 || plainWord.test(value) ? end : this.add(after, end);
  }

  private token(at: number): number {
    const end = this.endOf(tokenWord, at);
    return isToken(this.text.slice(at, Math.min(end, at + 400))) ? this.add(at, end) : end;
  }

  /** Finds `--token abc`, `-u me:pw` and `"--token", "abc"`; with `=` it is a pair. */
  private option(option: string, after: number): number {
    const { text } = this;
    const separator = /["']?[ \t]{0,4}(?:,\s{0,4})?["']?/y;
    const start = this.endOf(separator, after);
    if (start === after) return after;
    const first = text.charAt(start);
    if (first === '' || first === '-' || first === '<' || first === '[') return after;
    // In a list, this is a map, such as a reference. Its own names decide.
    if (first === '{' && /,\s*$/.test(text.slice(after, start))) return after;
    const userName = /^(?:-u|-U|--user|--proxy-user)$/.test(option);
    if (!userName && nameStrength(option) === 'none') return after;
    const end = this.valueEnd(
      start,
      isQuote(text.charCodeAt(start - 1)) ? text.charAt(start - 1) : '',
    );
    const value = text.slice(start, Math.min(end, start + 100));
    if (userName) {
      const colon = text.slice(start, Math.min(end, start + 256)).indexOf(':');
      return colon < 0 ? end : this.add(start + colon + 1, end);
    }
    return isTrivial(value, option) || prose.test(value) || isNoValue(value)
      ? end
      : this.add(start, end);
  }

  /** Finds `name=value`, `name: value` and `"name": "value"`. */
  private pair(at: number, after: number): number {
    const { text } = this;
    const equals = text.charAt(at) === '=';
    let nameEnd = at;
    while (nameEnd > 0 && at - nameEnd < 2 && text.charAt(nameEnd - 1) === ' ') nameEnd--;
    const quoted = isQuote(text.charCodeAt(nameEnd - 1));
    if (quoted) nameEnd--;
    if (quoted && text.charAt(nameEnd - 1) === '\\') nameEnd--;
    let nameStart = nameEnd;
    while (
      nameStart > 0 &&
      nameEnd - nameStart < longestLookBack &&
      nameCodes.has(text.charCodeAt(nameStart - 1))
    ) {
      nameStart--;
    }
    if (nameStart === nameEnd) return after;
    const inAddress = equals && /[?&#]/.test(text.charAt(nameStart - 1));
    const name = text.slice(nameStart, nameEnd);
    const strength = this.strengthOf(name, inAddress);
    const isEnvironment =
      equals &&
      strength === 'none' &&
      /(?:^|\s)(?:-e|--env)[ \t=]$/.test(text.slice(Math.max(0, nameStart - 8), nameStart));
    if (strength === 'none' && !isEnvironment) return after;
    let start = this.endOf(space, text.charAt(after) === '>' ? after + 1 : after);
    const isWeak = strength === 'weak';
    if (text.charAt(start) === '[') return this.list(start + 1, isWeak);
    if (text.charAt(start) === '{') return after;
    const first = this.endOf(openingQuote, start);
    const quote = text.slice(start, first);
    const wholeLine = quote === '' && !equals && /authorization$|cookie$/i.test(name);
    start = /authorization$/i.test(name)
      ? this.endOf(/[A-Za-z]{1,20}[ \t]{1,8}(?=\S)/y, first)
      : first;
    // A single word before a colon is prose more often than not.
    const telling = equals || quoted;
    const opaque = !telling && (isWeak || strength === 'word');
    const most = opaque ? start + longestLookBack : text.length;
    const end = wholeLine ? this.lineEnd(start) : this.valueEnd(start, quote, inAddress, most);
    const head = text.slice(start, Math.min(end, start + 200));
    if (
      isTrivial(head, name) ||
      (strength !== 'none' && isNoValue(wholeLine ? text.slice(first, end) : head))
    )
      return after;
    if (isEnvironment) return this.add(start, end, 'environment');
    if (opaque) {
      const isOne = head.length >= 8 && /\d/.test(head) && /[A-Za-z]/.test(head);
      return isOne ? this.add(start, this.valueEnd(start, quote)) : after;
    }
    const mayBeProse = equals ? false : quoted ? isWeak : strength === 'strong';
    return mayBeProse && plainWord.test(head) ? after : this.add(start, end);
  }

  private strengthOf(name: string, inAddress: boolean): NameStrength {
    if (inAddress) return nameStrength(name, true);
    const known = this.strengths.get(name);
    if (known !== undefined) return known;
    const strength = nameStrength(name);
    if (this.strengths.size < mostNames) this.strengths.set(name, strength);
    return strength;
  }

  private list(from: number, weak: boolean): number {
    const { text } = this;
    for (let at = from; ;) {
      const start = this.endOf(/[\s,]*/y, at);
      if (!isQuote(text.charCodeAt(start))) return start;
      const end = this.valueEnd(start + 1, text.charAt(start));
      const head = text.slice(start + 1, Math.min(end, start + 101));
      if (!isTrivial(head) && !isNoValue(head) && !(weak && plainWord.test(head)))
        this.add(start + 1, end);
      at = end + 1;
    }
  }

  /**
   * Finds the password of `scheme://user:password@host/path`. It may hold `@` and other characters
   * unescaped.
   */
  private address(at: number, after: number): number {
    const { text } = this;
    if (!nameCodes.has(text.charCodeAt(at - 1))) return after;
    if (after > this.wordEnd) {
      this.wordEnd = this.endOf(/[^\s"'<>`\\…]*/y, after);
      this.lastAt = text.slice(after, this.wordEnd).lastIndexOf('@') + after;
      if (text.charAt(this.lastAt) !== '@') this.lastAt = -1;
    }
    const hostEnd = Math.min(this.endOf(/[^\s"'<>`\\…/?#]*/y, after), this.wordEnd);
    const authority = text.slice(after, hostEnd);
    const colon = authority.indexOf(':');
    const inHost = authority.lastIndexOf('@');
    const openEnd =
      colon >= 0 && inHost < 0 && !/^\[|^[^:]*:\d{0,5}$/.test(authority.slice(0, 300));
    const isCut = openEnd && text.charAt(hostEnd) === '…';
    const until =
      inHost >= 0
        ? after + inHost
        : openEnd && this.lastAt > after
          ? this.lastAt
          : isCut
            ? hostEnd
            : -1;
    if (until < 0) return this.path(after, hostEnd);
    if (colon >= 0 && after + colon < until) {
      // Before `:x-oauth-basic` and before `:@`, the name is the secret.
      const password = text.slice(after + colon + 1, until);
      const isName =
        password === '' || password.startsWith('x-') || isRandom(authority.slice(0, colon));
      this.add(isName ? after : after + colon + 1, until);
    } else if (!/^[A-Za-z][A-Za-z._-]{0,31}$/.test(text.slice(after, until)))
      this.add(after, until);
    return inHost >= 0 ? this.path(until + 1, hostEnd) : until;
  }

  /** Finds secret parts of a path: those behind `webhooks`, and random ones. */
  private path(host: number, hostEnd: number): number {
    const { text } = this;
    if (text.charAt(hostEnd) !== '/') return hostEnd;
    const end = Math.min(this.endOf(/[^\s"'<>`\\…?#:]*/y, hostEnd), this.wordEnd);
    let isHook = /(?:^|\.)(?:hooks|webhook)\./i.test(text.slice(host, hostEnd));
    let start = hostEnd + 1;
    for (const part of text.slice(start, end).split('/')) {
      const opaque = isHook && part.length >= 6 && /[\dA-Z]/.test(part);
      if (opaque || isRandom(part)) this.add(start, start + part.length);
      if (/^(?:web)?hooks?\w{0,4}$|^(?:tokens?|keys?|secrets?)$/i.test(part)) isHook = true;
      start += part.length + 1;
    }
    // `/bot123456:token/` is how one messenger writes its own.
    const bot =
      text.charAt(end) === ':' && /\/bot\d{4,20}$/.test(text.slice(Math.max(0, end - 30), end));
    return bot ? this.add(end + 1, this.endOf(/[\w-]+/y, end + 1)) : end;
  }

  private lineEnd(start: number): number {
    for (let at = start; ;) {
      const stop = this.endOf(/[^\r\n"'\\”]*/y, at);
      if (this.text.charAt(stop - 1) !== '=') return stop;
      // Finds a parameter in quotes, as in `Digest username="a", response="…"`.
      at = this.endOf(/"[^"\r\n]*"/y, stop);
      if (at === stop) return stop;
    }
  }

  private valueEnd(
    start: number,
    quote: string,
    inAddress = false,
    most = this.text.length,
  ): number {
    const { text } = this;
    const last = Math.min(most, text.length);
    if (quote.length === 2) {
      const end = text.slice(start, last).indexOf(quote);
      return end < 0 ? last : start + end;
    }
    let at = start;
    for (; at < last; at++) {
      const code = text.charCodeAt(at);
      if (quote !== '') {
        if (code === quote.charCodeAt(0)) return at;
        if (code === backslash) at++;
        continue;
      }
      if (code === backslash) {
        if (isQuote(text.charCodeAt(at + 1))) return at;
        at++;
      } else if (code <= 0x20 || endCodes.has(code) || (inAddress && code === hash)) break;
      else if (code === comma && /\s|[\w.-]=|^$/.test(text.slice(at + 1, at + 3))) break;
    }
    at = Math.min(at, last);
    if (quote !== '') return at;
    while (at > start && /[.,)\]}…]/.test(text.charAt(at - 1))) at--;
    return at;
  }

  private endOf(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    return pattern.test(this.text) ? pattern.lastIndex : at;
  }
}

const backslash = 0x5c;
const comma = 0x2c;
const hash = 0x23;

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27;
}

function codesOf(characters: string): ReadonlySet<number> {
  return new Set([...characters].map((one) => one.charCodeAt(0)));
}

/** Quotes (also the closing one of our messages) and separators. White space ends a value too. */
const endCodes = codesOf('"\'`”;&<>|');
const nameCodes = codesOf('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+');
