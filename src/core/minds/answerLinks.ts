/**
 * Finds links to saved files in an answer as it streams (V2), because a chat opens and shows a file only if it is given
 * apart from the text. A possible link is held back until it is complete, or proves to be text.
 *
 * Invariants: every character goes out, in order. Only targets known to `fileOf` are taken out of the text.
 */
import type { ResultFile } from './model.js';

export type AnswerPiece =
  | { readonly kind: 'text'; readonly text: string }
  /** `shown` means that the model wants to show the file, not only to name it. */
  | { readonly kind: 'file'; readonly file: ResultFile; readonly label: string; readonly shown: boolean };

/** No link is longer than this, in characters. */
const longestLink = 4_000;

export class AnswerLinks {
  private held = '';

  /** @param fileOf returns the file of a target as written by the model, or undefined for other targets */
  constructor(private readonly fileOf: (target: string) => ResultFile | undefined) {}

  push(text: string): AnswerPiece[] {
    const all = this.held + text;
    const open = openLink(all);
    this.held = all.slice(open);
    return this.pieces(all.slice(0, open));
  }

  end(): AnswerPiece[] {
    const rest = this.held;
    this.held = '';
    return this.pieces(rest);
  }

  private pieces(text: string): AnswerPiece[] {
    const found: AnswerPiece[] = [];
    let from = 0;
    const upTo = (end: number): void => {
      if (end > from) found.push({ kind: 'text', text: text.slice(from, end) });
    };
    for (const { label, mark, target, start, end } of linksIn(text)) {
      const file = this.fileOf(target.trim().replace(/^<(.*)>$/, '$1'));
      if (!file) continue;
      upTo(start);
      from = end;
      found.push({ kind: 'file', file, label, shown: mark === '!' });
    }
    upTo(text.length);
    return found;
  }
}

interface Link {
  readonly mark: string;
  readonly label: string;
  readonly target: string;
  readonly start: number;
  readonly end: number;
}

/** Finds complete links, each on one line, in linear time: many may begin, and none end. */
function* linksIn(text: string): Generator<Link> {
  const beginning = /(!?)\[([^[\]\n]*)\]\(/g;
  let [close, lineEnd] = [-1, -1];
  for (let found = beginning.exec(text); found; found = beginning.exec(text)) {
    const at = beginning.lastIndex;
    if (close < at) close = orEnd(text.indexOf(')', at), text);
    if (lineEnd < at) lineEnd = orEnd(text.indexOf('\n', at), text);
    if (close >= lineEnd) continue;
    const [, mark = '', label = ''] = found;
    yield { mark, label, target: text.slice(at, close), start: found.index, end: close + 1 };
    beginning.lastIndex = close + 1;
  }
}

const orEnd = (index: number, text: string): number => (index < 0 ? text.length : index);

/** Returns the beginning of an incomplete link, or the length of the text. */
function openLink(text: string): number {
  const line = text.lastIndexOf('\n') + 1;
  const from = Math.max(line, text.length - longestLink);
  const found = /!?\[[^\]]*(?:\](?:\([^)]*)?)?$|!$/.exec(text.slice(from));
  return found ? from + found.index : text.length;
}
