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
  userOption,
  type NameStrength,
} from './secretNames.js';

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

/** A name before `=` or `:`, and where its value begins, behind an opening quotation mark. */
interface Pair {
  readonly name: string;
  readonly strength: NameStrength;
  readonly quote: string;
  readonly start: number;
}

interface Value extends Span {
  readonly head: string;
  /** The head, or the whole value with its scheme. */
  readonly said: string;
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
    if (anchor === '://') {
      return this.address(at, after);
    }
    if (anchor === '=' || anchor === ':') {
      return this.pair(at, after);
    }
    if (anchor.startsWith('-----')) {
      return this.privateKey(after);
    }
    if (anchor.startsWith('-')) {
      return this.option(anchor, after);
    }
    if (/^b/i.test(anchor) && /[ \t]$/.test(anchor)) {
      return this.bearer(after);
    }
    return this.token(at);
  }

  private add(start: number, end: number, kind: Found['kind'] = 'secret'): number {
    if (end > start) {
      this.found.push({ start, end, kind });
    }
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
    const isOfUser = userOption.test(option);
    if (!isOfUser && nameStrength(option) === 'none') return after;
    const isQuoted = isQuote(text.charCodeAt(start - 1));
    const end = this.valueEnd(start, isQuoted ? text.charAt(start - 1) : '');
    if (isOfUser) {
      const colon = text.slice(start, Math.min(end, start + 256)).indexOf(':');
      return colon < 0 ? end : this.add(start + colon + 1, end);
    }
    const head = text.slice(start, Math.min(end, start + 100));
    if (isTrivial(head, option) || prose.test(head) || isNoValue(head)) return end;
    return this.add(start, end);
  }

  /** Finds the value of `NAME=value`, `name: value` and `"name": "value"`. */
  private pair(at: number, after: number): number {
    const { text } = this;
    const name = this.nameBefore(at);
    if (!name) return after;
    const isAssigned = text.charAt(at) === '=';
    const isParameter = isAssigned && /[?&#]/.test(text.charAt(name.start - 1));
    const strength = this.strengthOf(name.text, isParameter);
    const isVariable = strength === 'none' && isAssigned && this.isOfEnvironment(name.start);
    if (strength === 'none' && !isVariable) return after;
    // In Ruby, `=>` is a colon.
    const open = this.endOf(space, text.charAt(after) === '>' ? after + 1 : after);
    if (text.charAt(open) === '[') {
      return this.list(open + 1, strength === 'weak');
    }
    if (text.charAt(open) === '{') return after;
    const start = this.endOf(openingQuote, open);
    const pair = {
      name: name.text,
      strength,
      quote: text.slice(open, start),
      start,
    };
    if (isAssigned) {
      return this.assigned(pair, isParameter) ?? after;
    }
    return (name.isQuoted ? this.member(pair, 'weak') : this.line(pair)) ?? after;
  }

  /** Finds the name in front of `=` or `:`; a blank and a quotation mark may be between them. */
  private nameBefore(at: number) {
    const { text } = this;
    let end = at;
    while (end > 0 && at - end < 2 && text.charAt(end - 1) === ' ') end--;
    const isQuoted = isQuote(text.charCodeAt(end - 1));
    if (isQuoted) end--;
    if (isQuoted && text.charAt(end - 1) === '\\') end--;
    const least = Math.max(0, end - longestLookBack);
    let start = end;
    while (start > least && nameCodes.has(text.charCodeAt(start - 1))) start--;
    return start === end
      ? undefined
      : {
          start,
          text: text.slice(start, end),
          isQuoted,
        };
  }

  /** True behind `-e` and `--env`, as in `docker run -e NAME=value`. */
  private isOfEnvironment(nameStart: number): boolean {
    const before = this.text.slice(Math.max(0, nameStart - 8), nameStart);
    return /(?:^|\s)(?:-e|--env)[ \t=]$/.test(before);
  }

  /**
   * A name with `=` shows every value, also a plain word.
   * - `TOKEN=abc`, `password = 'a b'`: a secret by its name.
   * - `?code=abc#top`: a parameter, which ends at `#`.
   * - `-e LEVEL=abc`: a variable, whatever its name.
   */
  private assigned(pair: Pair, isParameter: boolean): number | undefined {
    const start = this.behindScheme(pair);
    const value = this.valueAt(start, this.valueEnd(start, pair.quote, isParameter));
    const kind = pair.strength === 'none' ? 'environment' : 'secret';
    return isHarmless(value, pair) ? undefined : this.add(start, value.end, kind);
  }

  /**
   * A name without quotes before a colon may be a word of a sentence.
   * - `Authorization: Bearer abc`, `Password: abc`: any value.
   * - `api_key: abc1`: any value but a plain word, as in `api_key: missing`.
   * - `token: abc1def2`: only letters with digits, because `token` is prose more often.
   */
  private line(pair: Pair): number | undefined {
    const { strength, quote, start } = pair;
    if (strength !== 'weak' && strength !== 'word') {
      return this.member(pair, 'strong');
    }
    const near = this.valueEnd(start, quote, false, start + longestLookBack);
    const value = this.valueAt(start, near);
    if (isHarmless(value, pair) || !isOpaque(value.head)) return undefined;
    return this.add(start, this.valueEnd(start, quote));
  }

  /**
   * A name in quotes is a key: `"apiKey": "abc"`, `\"apiKey\": \"abc\"`. A plain word is no secret
   * of a name with the strength `unlessWord`: `"key": "name"`.
   */
  private member(pair: Pair, unlessWord: NameStrength): number | undefined {
    const value = this.valueBehindColon(pair);
    if (isHarmless(value, pair)) return undefined;
    if (pair.strength === unlessWord && plainWord.test(value.head)) return undefined;
    return this.add(value.start, value.end);
  }

  private valueAt(start: number, end: number): Value {
    const head = this.text.slice(start, Math.min(end, start + 200));
    return {
      start,
      end,
      head,
      said: head,
    };
  }

  /** A header without quotes has its value up to the end of the line: `Cookie: a=b; c=d`. */
  private valueBehindColon(pair: Pair): Value {
    const { name, quote } = pair;
    const start = this.behindScheme(pair);
    const isLine = quote === '' && /authorization$|cookie$/i.test(name);
    if (!isLine) {
      return this.valueAt(start, this.valueEnd(start, quote));
    }
    const end = this.lineEnd(start);
    return {
      ...this.valueAt(start, end),
      said: this.text.slice(pair.start, end),
    };
  }

  /** The scheme of a header stays in sight: `Authorization: Bearer •••`. */
  private behindScheme({ name, start }: Pair): number {
    if (!/authorization$/i.test(name)) return start;
    return this.endOf(/[A-Za-z]{1,20}[ \t]{1,8}(?=\S)/y, start);
  }

  private strengthOf(name: string, inAddress: boolean): NameStrength {
    if (inAddress) return nameStrength(name, true);
    const known = this.strengths.get(name);
    if (known !== undefined) return known;
    const strength = nameStrength(name);
    if (this.strengths.size < mostNames) {
      this.strengths.set(name, strength);
    }
    return strength;
  }

  private list(from: number, weak: boolean): number {
    const { text } = this;
    for (let at = from; ;) {
      const start = this.endOf(/[\s,]*/y, at);
      if (!isQuote(text.charCodeAt(start))) return start;
      const end = this.valueEnd(start + 1, text.charAt(start));
      const head = text.slice(start + 1, Math.min(end, start + 101));
      if (!isTrivial(head) && !isNoValue(head) && !(weak && plainWord.test(head))) {
        this.add(start + 1, end);
      }
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
    this.readWord(after);
    const hostEnd = Math.min(this.endOf(/[^\s"'<>`\\…/?#]*/y, after), this.wordEnd);
    const inHost = text.slice(after, hostEnd).lastIndexOf('@');
    if (inHost >= 0) {
      const end = after + inHost;
      this.addCredentials(after, end);
      return this.path(end + 1, hostEnd);
    }
    const end = this.openEnd(after, hostEnd);
    if (end === undefined) {
      return this.path(after, hostEnd);
    }
    this.addCredentials(after, end);
    return end;
  }

  private readWord(start: number): void {
    if (start <= this.wordEnd) return;
    this.wordEnd = this.endOf(/[^\s"'<>`\\…]*/y, start);
    const at = this.text.slice(start, this.wordEnd).lastIndexOf('@');
    this.lastAt = at < 0 ? -1 : start + at;
  }

  /**
   * Returns the end of credentials whose password has a `/`, `?` or `#`, as in `//me:a/b@host`, or
   * whose text is cut, as in `//me:abc…`. A host with a port has none: `//host:80`, `//[::1]:80`.
   */
  private openEnd(start: number, hostEnd: number): number | undefined {
    const { text, lastAt } = this;
    const authority = text.slice(start, hostEnd);
    if (!authority.includes(':') || /^\[|^[^:]*:\d{0,5}$/.test(authority.slice(0, 300))) {
      return undefined;
    }
    if (lastAt > start) return lastAt;
    return text.charAt(hostEnd) === '…' ? hostEnd : undefined;
  }

  private addCredentials(start: number, end: number): void {
    const credentials = this.text.slice(start, end);
    const colon = credentials.indexOf(':');
    if (colon < 0) {
      if (!/^[A-Za-z][A-Za-z._-]{0,31}$/.test(credentials)) {
        this.add(start, end);
      }
      return;
    }
    // Before `:x-oauth-basic` and before `:@`, the name is the secret.
    const name = credentials.slice(0, colon);
    const password = credentials.slice(colon + 1);
    const isName = password === '' || password.startsWith('x-') || isRandom(name);
    this.add(isName ? start : start + colon + 1, end);
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
      if (opaque || isRandom(part)) {
        this.add(start, start + part.length);
      }
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
    const last = Math.min(most, this.text.length);
    if (quote === '') {
      return this.bareEnd(start, last, inAddress);
    }
    if (quote.length === 1) {
      return this.quotedEnd(start, last, quote);
    }
    const end = this.text.slice(start, last).indexOf(quote);
    return end < 0 ? last : start + end;
  }

  /** Returns the place of the closing quotation mark: `"a\"b"` has one within. */
  private quotedEnd(start: number, last: number, quote: string): number {
    const { text } = this;
    const closing = quote.charCodeAt(0);
    for (let at = start; at < last; at++) {
      const code = text.charCodeAt(at);
      if (code === closing) return at;
      if (code === backslash) at++;
    }
    return last;
  }

  /** A value without quotes ends before white space, a separator and the end of a sentence. */
  private bareEnd(start: number, last: number, inAddress: boolean): number {
    const { text } = this;
    let at = start;
    for (; at < last; at++) {
      const code = text.charCodeAt(at);
      if (code === backslash) {
        // The value is in a text within a text: `\"token=abc\"`.
        if (isQuote(text.charCodeAt(at + 1))) return at;
        at++;
      } else if (code <= 0x20 || endCodes.has(code) || (inAddress && code === hash)) {
        break;
      } else if (code === comma && /\s|[\w.-]=|^$/.test(text.slice(at + 1, at + 3))) {
        break;
      }
    }
    at = Math.min(at, last);
    while (at > start && /[.,)\]}…]/.test(text.charAt(at - 1))) at--;
    return at;
  }

  private endOf(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    return pattern.test(this.text) ? pattern.lastIndex : at;
  }
}

function isHarmless({ head, said }: Value, { name, strength }: Pair): boolean {
  return isTrivial(head, name) || (strength !== 'none' && isNoValue(said));
}

/** True for at least eight characters with letters and digits. */
function isOpaque(head: string): boolean {
  return head.length >= 8 && /\d/.test(head) && /[A-Za-z]/.test(head);
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
