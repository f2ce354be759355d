/** Reads the rules of `src/rules.md` and the sentences that cite them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const repository = path.resolve(__dirname, '../..');

/** Words in any form and order, and code as it is. */
interface Subject {
  readonly stems: readonly string[];
  readonly code: readonly string[];
}

export interface Rule {
  readonly id: string;
  /** Of which a citing sentence has one. */
  readonly subjects: readonly Subject[];
  readonly text: string;
}

export interface Citation {
  /** Relative to the repository, with `/`. */
  readonly file: string;
  readonly line: number;
  readonly id: string;
  /** Undefined if the place has no sentence about the rule, such as a command in a page. */
  readonly sentence: string | undefined;
}

/** `**X4** *subject, other subject.* …` */
const beginnings = /^\*\*([A-Z]\d+[a-z]?)\*\* \*([^*]*)\.\*\s/gm;

export function readRules(page: string): Rule[] {
  const found = [...page.matchAll(beginnings)];
  return found.map((match, index) => {
    const [whole, id = '', subjects = ''] = match;
    const end = found[index + 1]?.index ?? page.length;
    const text = page.slice(match.index + whole.length, end).split(/^## /m)[0] ?? '';
    return { id, subjects: subjects.split(/,\s+/).map(subjectOf), text: text.trim() };
  });
}

const small = new Set(['a', 'an', 'and', 'by', 'for', 'from', 'in', 'is', 'of', 'on', 'the', 'to']);

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}@](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}])?/gu) ?? [];
}

/** *approve*, *approval* and *approved* have one stem. */
function stemOf(word: string): string {
  const stem = word.replace(/(?:ations?|ions?|ies|ing|ers?|ed|es|al|[esy])$/, '');
  return stem.length < 3 ? word : stem;
}

function subjectOf(text: string): Subject {
  const code = [...text.matchAll(/`([^`]+)`/g)].map(([, inside = '']) => inside);
  const words = wordsOf(text.replace(/`[^`]+`/g, ''));
  return { stems: words.filter((word) => !small.has(word)).map(stemOf), code };
}

/** Returns whether a sentence has a subject of a rule. */
export function subjectsIn(sentence: string): (rule: Rule) => boolean {
  const words = wordsOf(sentence);
  return ({ subjects }) =>
    subjects.some(
      ({ stems, code }) =>
        stems.every((stem) => words.some((word) => word.startsWith(stem))) &&
        code.every((text) => sentence.includes(text)),
    );
}

/** Fixtures have foreign files. `src/rules.md` cites its rules for contrast, too. */
export function citingFiles(): string[] {
  return [
    ...readdirSync(repository).filter((name) => name.endsWith('.md')),
    ...['docs', 'src', 'test'].flatMap((folder) =>
      readdirSync(path.join(repository, folder), { recursive: true, encoding: 'utf8' })
        .map((name) => path.posix.join(folder, ...name.split(path.sep)))
        .filter(
          (name) =>
            /\.(?:ts|mjs|md)$/.test(name) &&
            !/^test\/(?:golden|.*\/workspaces?|fixtures)\//.test(name),
        ),
    ),
  ];
}

/**
 * A letter of a chapter and a number, without neighbours. Parts of words, ids and character classes
 * do not match, nor does V8, the engine.
 */
const numbers = /(?<![\w\-.#'"/\\[%])(?!V8)[CNORLXVGESDHP]\d{1,2}[a-z]?(?![\w\-\]=])/g;

export function citationsIn(file: string): Citation[] {
  const lines = readFileSync(path.join(repository, file), 'utf8').split('\n');
  if (file === 'src/rules.md')
    return lines.flatMap((text, index) => withoutSentence(text, file, index));
  const blocks = file.endsWith('.md') ? paragraphsOf(lines) : remarksOf(lines);
  return [...blocks, ...(file.startsWith('test/') ? titlesOf(lines) : [])].flatMap((block) =>
    citationsOf(block, file),
  );
}

function withoutSentence(text: string, file: string, index: number): Citation[] {
  return [...text.matchAll(numbers)].map(([id]) => ({
    file,
    line: index + 1,
    id,
    sentence: undefined,
  }));
}

/** The parts of one text, with the number of the line on which each begins. */
interface Block {
  readonly parts: readonly { readonly text: string; readonly line: number }[];
  /** Only a comment cites a rule without parentheses: `Rule X5: …`. */
  readonly kind: 'comment' | 'page' | 'title';
}

function citationsOf({ parts, kind }: Block, file: string): Citation[] {
  const whole = parts.map(({ text }) => text).join(' ');
  const found: Citation[] = [];
  let offset = 0;
  for (const sentence of whole.split(/(?<=[.!?]\)?) (?=[A-Z`"*“(@])/)) {
    for (const match of sentence.matchAll(numbers)) {
      const isMarked = isInParentheses(sentence, match.index);
      if (kind === 'title' && !isMarked) continue;
      const isCited =
        kind === 'title' || (!isCode(sentence, match.index) && (kind === 'comment' || isMarked));
      found.push({
        file,
        line: lineAt(parts, offset + match.index),
        id: match[0],
        sentence: isCited ? sentence : undefined,
      });
    }
    offset += sentence.length + 1;
  }
  return found;
}

function isInParentheses(text: string, index: number): boolean {
  const before = text.slice(0, index);
  return before.lastIndexOf('(') > before.lastIndexOf(')');
}

/** An example, such as the title of a test. */
function isCode(text: string, index: number): boolean {
  return text.slice(0, index).split('`').length % 2 === 0;
}

function lineAt(parts: Block['parts'], offset: number): number {
  let end = 0;
  for (const { text, line } of parts) {
    end += text.length + 1;
    if (offset < end) return line;
  }
  return 0;
}

/** A line of a comment, or undefined. @param isInside true if a comment began above and goes on */
function remarkIn(
  line: string,
  isInside: boolean,
): { readonly text: string; readonly begins: boolean; readonly goesOn: boolean } | undefined {
  const further = isInside ? /^\s*(?:\/\/|\*(?!\/))(?:\s(.*))?$/.exec(line) : null;
  const match = further ?? /(?:^|\s)(?:\/\*\*?|\/\/)(?:\s(.*))?$/.exec(line);
  if (match === null) return undefined;
  const text = match[1] ?? '';
  return {
    text: text.replace(/\s*\*\/$/, ''),
    begins: further === null,
    goesOn: !text.endsWith('*/'),
  };
}

/** The comments, each with its lines in a row. */
function remarksOf(lines: readonly string[]): Block[] {
  const remarks: { text: string; line: number }[][] = [];
  let isInside = false;
  for (const [index, line] of lines.entries()) {
    const remark = remarkIn(line, isInside);
    isInside = remark?.goesOn ?? false;
    if (remark === undefined) continue;
    const part = { text: remark.text, line: index + 1 };
    if (remark.begins) remarks.push([part]);
    else remarks.at(-1)?.push(part);
  }
  return remarks.map((parts) => ({ parts, kind: 'comment' }));
}

/** The titles of tests: texts that begin their line or an argument. */
function titlesOf(lines: readonly string[]): Block[] {
  return lines.flatMap((line, index) => {
    const [, quote, text = ''] = /^\s*(?:[\w.]+\()?(['"`])(.*)\1/.exec(line) ?? [];
    return quote === undefined
      ? []
      : [{ parts: [{ text, line: index + 1 }], kind: 'title' as const }];
  });
}

/** Paragraphs, items of lists and rows of tables. */
function paragraphsOf(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let parts: { text: string; line: number }[] = [];
  for (const [index, line] of [...lines, ''].entries()) {
    if (/^\s*(?:[-*|#]|\d+\.)|^\s*$/.test(line) && parts.length > 0) {
      blocks.push({ parts, kind: 'page' });
      parts = [];
    }
    if (line.trim() !== '') parts.push({ text: line.trim(), line: index + 1 });
  }
  return blocks;
}
