/**
 * Finds links to files in a streamed answer (V2), because a chat needs the files apart. Every
 * character goes out, in order.
 */
import type { ResultFile } from './model.js';

export type AnswerPiece =
  | { readonly kind: 'text'; readonly text: string }
  /** `shown` means that the model wants to show the file, not only to name it. */
  | {
      readonly kind: 'file';
      readonly file: ResultFile;
      readonly label: string;
      readonly shown: boolean;
    };

/** No link is longer than this, in characters. */
const longestLink = 4_000;

export class AnswerLinks {
  private held = '';

  /**
   * @param fileOf returns the file of a target as written by the model, or undefined for other
   * targets
   */
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
    for (const { 0: link, 1: mark, 2: label = '', 3: target = '', index } of text.matchAll(
      completeLink,
    )) {
      const file = this.fileOf(target.trim().replace(/^<(.*)>$/, '$1'));
      if (!file) continue;
      upTo(index);
      from = index + link.length;
      found.push({
        kind: 'file',
        file,
        label,
        shown: mark === '!',
      });
    }
    upTo(text.length);
    return found;
  }
}

/**
 * A complete link on one line. No part reaches over another beginning, so a text full of beginnings
 * takes one pass.
 */
const completeLink = /(!?)\[([^[\]\n]*)\]\(([^()\n]*)\)/g;

function openLink(text: string): number {
  const line = text.lastIndexOf('\n') + 1;
  const from = Math.max(line, text.length - longestLink);
  const found = /!?\[[^\]]*(?:\](?:\([^)]*)?)?$|!$/.exec(text.slice(from));
  return found ? from + found.index : text.length;
}
