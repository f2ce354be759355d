/**
 * The readings of a text in which a search looks for secrets (E4b). A colour or a control character
 * may be in the middle of a secret, between a word and a secret, or in a known value. So a
 * search reads the text as it is, without these characters, and with a blank for them. Linear.
 */
import { hiddenCharacter } from './inert.js';

export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Reading {
  readonly text: string;
  /** The place of each character in the given text. */
  readonly places: Uint32Array;
}

/** Programs and cut JSON also write the character ESC as text. */
const escape = String.raw`(?:\u001b|\\{1,4}(?:u001[bB]|x1[bB]|033|e)|\^\[)`;
const command = String.raw`(?:${escape}\[|\u009b)[0-?]*[ -/]*[@-~]|${escape}(?:[78=>cDEHMNOZ\\]|[ #%()*+][\dA-Za-z])`;
const controlString = String.raw`(?:${escape}[\]PX^_]|[\u0090\u0098\u009d-\u009f])`;
const written = String.raw`\\{1,4}(?:u(?:00(?:0[0-8bcefBCEF]|[189][\da-fA-F]|7[fF]|[aA][dD])|20(?:0[b-fB-F]|2[8-9a-eA-E]|6[\da-fA-F])|[fF][eE][fF]{2})|x(?:0[0-8]|1[\da-fA-F]|7[fF]))`;
const hidden = String.raw`(?![\n\t]|\r\n)${hiddenCharacter.source}|${written}`;
/** The address in a link of a terminal may hold a secret, so only this reading leaves it out. */
const joined = new RegExp(
  String.raw`${controlString}[^\u0007\u001b\u009c\\\n]*|${command}|${hidden}`,
  'gu',
);
/** A cut JSON text has its ends of lines as `\\n`. */
const spaced = new RegExp(
  String.raw`(?:${command}|${controlString}|${hidden}|\\{1,4}[bfnrt])+`,
  'gu',
);
/** No other text has something to remove. */
const possible = /[^\n\t -[\]-~]|\^\[/;

/**
 * Returns the spans that a search finds in some reading of the text, as disjoint spans of the text
 * in their order.
 */
export function inReadings<One extends Span>(
  text: string,
  search: (text: string) => readonly One[],
): readonly One[] {
  const own = search(text);
  if (!possible.test(text) || text.search(spaced) < 0) return own;
  const found = [...own];
  for (const reading of [without(text, joined, ''), without(text, spaced, ' ')]) {
    let reached = 0;
    for (const one of search(reading.text)) {
      if (one.end <= reached) continue;
      reached = endBehindBlanks(text, reading, one.end);
      found.push({
        ...one,
        start: reading.places[one.start] ?? 0,
        end: (reading.places[reached - 1] ?? 0) + 1,
      });
    }
  }
  return united(found);
}

/** Returns the text without colours and control characters. */
export function bare(text: string): string {
  return possible.test(text) ? text.replace(joined, '') : text;
}

function without(text: string, pattern: RegExp, blank: string): Reading {
  const places = new Uint32Array(text.length);
  let read = '';
  let from = 0;
  const keep = (end: number) => {
    for (let at = from; at < end; at++) places[read.length + at - from] = at;
    read += text.slice(from, end);
  };
  for (const { index, 0: removed } of text.matchAll(pattern)) {
    keep(index);
    places[read.length] = index;
    read += blank;
    from = index + removed.length;
  }
  keep(text.length);
  return { text: read, places };
}

/** A secret may go on behind a removed character. */
function endBehindBlanks(text: string, { text: read, places }: Reading, from: number): number {
  const rest = /[\w.~+/=-]+/y;
  let end = from;
  while (read[end] === ' ' && text[places[end] ?? 0] !== ' ') {
    rest.lastIndex = end + 1;
    if (!rest.test(read)) break;
    end = rest.lastIndex;
  }
  return end;
}

export function united<One extends Span>(spans: readonly One[]): One[] {
  const result: One[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last === undefined || span.start >= last.end) result.push(span);
    else if (span.end > last.end) result[result.length - 1] = { ...last, end: span.end };
  }
  return result;
}
