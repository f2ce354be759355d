/**
 * Makes foreign text inert for every view (S1d). VS Code turns `[text](command:…)` in a message
 * into a link for a command, and `$(name)` into an icon. Control characters steer a terminal, and
 * invisible ones hide parts of a text. The words of a template `` inert`…` `` are ours, and every
 * value is made inert. Only this module makes these types.
 */
import { folded, pageWidth } from './folded.js';
import { pieces } from './language.js';

declare const mark: unique symbol;

export type Inert = string & { readonly [mark]: true };

export class Icon {
  constructor(readonly id: string) {}
}

export class Markdown {
  constructor(
    readonly value: string,
    key: typeof own,
  ) {
    if (key !== own) throw new TypeError('Markdown is made by the tag.');
  }
}

const own = Symbol('own');

type Plain = string | number;

/**
 * In UTF-16 code units. A longer value is cut in its middle, so it cannot push our words out of
 * sight.
 */
const longestValue = 500;

/** Writes one line for messages, labels, titles and tooltips without Markdown. */
export function inert(words: TemplateStringsArray, ...values: (Plain | Icon)[]): Inert {
  let text = '';
  // Foreign text must not end in the beginning of a link or icon completed by the next text.
  const add = (next: string): void =>
    void (text += /[\]$]$/.test(text) && next.startsWith('(') ? ` ${next}` : next);
  for (const piece of pieces(words)) {
    const value = typeof piece === 'number' ? values[piece] : undefined;
    if (typeof piece === 'string') add(piece);
    else if (value instanceof Icon) text += `$(${value.id})`;
    else if (value !== undefined) add(unlinked(shortened(oneLine(String(value)))));
  }
  return text as Inert;
}

export function inertLines(text: string): Inert {
  return unlinked(visible(text)) as Inert;
}

/**
 * Writes our Markdown for a place without it: code, names and commands get one kind of quotation
 * marks.
 */
export function unmarked(text: string): string {
  return text.replace(
    /`([^`]+)`|“([^“”]*)”/g,
    (_, code?: string, said?: string) => `"${code ?? said}"`,
  );
}

/** Writes Markdown. Values of other kinds become plain text in it. */
export function formatted(words: TemplateStringsArray, ...values: (Plain | Markdown)[]): Markdown {
  const parts = pieces(words).map((piece) => {
    if (typeof piece === 'string') return piece;
    const value = values[piece];
    return value instanceof Markdown ? value.value : escapeMarkdown(String(value ?? ''));
  });
  return new Markdown(parts.join(''), own);
}

export const noMarkdown = formatted``;

export function markdownList(parts: readonly Markdown[], separator: string): Markdown {
  const texts = parts.map(({ value }) => value).filter((value) => value !== '');
  return new Markdown(texts.join(separator), own);
}

export function code(text: string): Markdown {
  const line = oneLine(text);
  const ticks = '`'.repeat(longestRun(line) + 1);
  const padded = line === '' || /^[` ]|[` ]$/.test(line) ? ` ${line} ` : line;
  return new Markdown(ticks + padded + ticks, own);
}

export function codeCell(text: string): Markdown {
  return new Markdown(code(text).value.replaceAll('|', '\\|'), own);
}

export function linkTarget(uri: string): Markdown {
  return new Markdown(uri.replace(/[\s()<>\\]/g, percentEncoded), own);
}

/**
 * Shows a text as a block of code. Long runs of blanks stay, because a block may be laid out by
 * them.
 */
export function fenced(text: string, language = ''): Markdown {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return new Markdown(`${fence}${language}\n${withoutHidden(text)}\n${fence}`, own);
}

/**
 * Takes our documentation, and a model's answer, because the editor shows it without trust. A test
 * lists the callers.
 */
export function asMarkdown(text: string): Markdown {
  return new Markdown(text, own);
}

/**
 * Writes invisible characters, and runs of blanks that could push text out of sight, as numbers.
 * Ends of lines stay.
 */
export function visible(text: string): string {
  const shown = withoutHidden(text);
  return shown.replace(/[ \t]{9,}/g, (blanks, at: number) =>
    // Indentation up to 40 blanks hides nothing.
    (at === 0 || shown[at - 1] === '\n') && blanks.length <= 40
      ? blanks
      : `\\u{20 × ${blanks.length}}`,
  );
}

/**
 * Shows a text from one end to the other before a person decides: all of it, folded, and with every
 * character.
 */
export function bothEnds(text: string, width = pageWidth, lead = ''): string {
  const lines = visible(text).split('\n');
  return lines.flatMap((line) => folded(line, width, lead, '  | ')).join('\n');
}

/** Quotes a text with every character visible and none out of sight. */
export function quoted(text: string): string {
  const shown = JSON.stringify(text).replace(hiddenCharacter, numbered);
  return shown.replace(/ {4,}/g, (blanks) => `\\u{20 × ${blanks.length}}`);
}

/** Writes an entry of a log. Continuation lines are indented, so no entry can be forged. */
export function forLog(text: string): string {
  return withoutHidden(text).replaceAll('\n', '\n    ');
}

export function visibleJson(json: string): string {
  return json.replace(hiddenCharacter, (one) => (one === '\n' ? one : escapedInJson(one)));
}

export function oneLine(text: string): string {
  const lines = text.split(/[\r\n\u2028\u2029]/);
  // A pattern for the blanks around an end of line would look at each run of blanks again and
  // again.
  const trimmed = lines.map((line, index) => {
    const rest = index > 0 ? line.trimStart() : line;
    return index < lines.length - 1 ? rest.trimEnd() : rest;
  });
  return visible(trimmed.filter((line) => line !== '').join(' ')).trim();
}

const hex = (character: string): string => (character.codePointAt(0) ?? 0).toString(16);
const numbered = (character: string): string => `\\u{${hex(character)}}`;
const percentEncoded = (character: string): string => `%${hex(character).toUpperCase()}`;

function escapedInJson(character: string): string {
  const units = character.split('');
  return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

/**
 * Besides Unicode's ignorable ones, Hangul fillers and the empty Braille pattern look like blanks.
 */
export const hiddenCharacter =
  /(?:[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{115f}\u{1160}\u{3164}\u{ffa0}]|(?! )\p{Zs})/gu;

/** Joiners and variation selectors belong to letters and pictures before them. */
const belongs = /^[\u{200c}\u{200d}\u{fe0e}\u{fe0f}]$/u;
const carrier =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{fe0f}]$|(?![\0-\u{7f}])[\p{L}\p{M}]$/u;

export function withoutHidden(given: string): string {
  if (/^[\n\t -~]*$/.test(given)) return given;
  const text = given.replaceAll('\r\n', '\n');
  const isKept = (one: string, at: number) => {
    if (one === '\n' || one === '\t') return true;
    // A quick test excludes most characters.
    return one > '\u{7f}' && belongs.test(one) && carrier.test(text.slice(Math.max(0, at - 2), at));
  };
  return text.replace(hiddenCharacter, (one, at: number) =>
    isKept(one, at) ? one : numbered(one),
  );
}

function shortened(text: string): string {
  if (text.length <= longestValue) return text;
  const half = longestValue / 2;
  return `${text.slice(0, half).replace(/[\uD800-\uDBFF]$/, '')}…${text.slice(-half).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

function unlinked(text: string): string {
  return text.replace(/\]\(/g, '] (').replace(/\$\(/g, '$ (');
}

function escapeMarkdown(text: string): string {
  return visible(text)
    .replace(/[\\`*_{}[\]()#+\-!|<>~$&:@=.]/g, '\\$&')
    .replace(/\n[ \t]*(?=\n[ \t]*\n)/g, '')
    .replace(/\n[ \t]*/g, '  \n');
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}
