/**
 * The language of the person (E5). Each of our texts is written in English, and is the key of its
 * translation. `{0}` and `{name}` are places for values. An editor passes its bundle to `speak`.
 * Without a bundle, as on the command line, every text stays English.
 */
import { BoundedMap } from './boundedMap.js';

type Value = string | number;
type Values = Readonly<Record<string, Value>>;

export type Bundle = Readonly<Record<string, string>>;

interface Language {
  readonly texts: ReadonlyMap<string, string>;
  readonly forms: Intl.PluralRules;
}

let bundle: Language | undefined;

/**
 * The values of English texts. The core keeps English texts, because logs and agents read them too.
 * A text that was pushed out is shown in English.
 */
const made = new BoundedMap<string, { readonly template: string; readonly values: Values }>(5000);

/** @param texts the translations by their English texts; undefined for English */
export function speak(language: string, texts: Bundle | undefined): void {
  made.clear();
  bundle = texts && {
    texts: new Map(Object.entries(texts)),
    forms: new Intl.PluralRules(language),
  };
}

const asItIs = (_: string, value: Value): Value => value;
const places = /\{(\w+)\}/g;

function fill(text: string, values: Values, shown: (name: string, value: Value) => Value): string {
  return text.replace(places, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(shown(name, values[name] ?? '')) : whole,
  );
}

function remembered(text: string, template: string, values: Values): string {
  // A text that is a value as a whole has its own entry.
  if (bundle && !Object.values(values).includes(text)) made.set(text, { template, values });
  return text;
}

/** Fills an English template, whose translation `translated` finds by the result. */
export function filled(template: string, values: Values): string {
  return remembered(fill(template, values, asItIs), template, values);
}

/**
 * Returns the English text for a count, `{0}`. A bundle has a translation of `other`, and may have
 * one for each other form of its language, such as `{0} tools#few`.
 */
export function counted(count: number, one: string, other: string, ...more: Value[]): string {
  const values = numbered([count, ...more]);
  return remembered(fill(count === 1 ? one : other, values, asItIs), other, values);
}

/** The text of `counted` in the language of the person. */
export function plural(...given: Parameters<typeof counted>): string {
  return translated(counted(...given));
}

/** A tag for a text that stays English until a view translates it. */
export function english(words: TemplateStringsArray, ...values: Value[]): string {
  return filled(templateOf(words), numbered(values));
}

/** Places for single words of ours. In other places, a single word may be a foreign name. */
const ours = new Set([
  'of',
  'list',
  'state',
  'found',
  'expected',
  'kind',
  'known',
  'reason',
  'why',
]);

/** Returns a text with a small first letter, for the middle of an English sentence. */
export function lowered(text: string): string {
  return remembered(`${text.charAt(0).toLowerCase()}${text.slice(1)}`, '{0}', { 0: text });
}

/** Changes an English text, as the redactor does, and its values, which the translation shows. */
export function altered(text: string, change: (text: string) => string): string {
  const result = change(text);
  const { template, values } = made.get(text) ?? {};
  if (result === text || template === undefined || values === undefined) return result;
  const own = Object.entries(values).map(([name, value]): [string, Value] => [
    name,
    typeof value === 'string' ? altered(value, change) : value,
  ]);
  const changed = Object.fromEntries(own);
  // A change across places has no translation.
  const isWhole = fill(template, changed, asItIs).toLowerCase() === result.toLowerCase();
  return isWhole ? remembered(result, template, changed) : result;
}

/** Returns an English text of `english`, or one without places, in the language of the person. */
export function translated(text: string): string {
  const own = bundle?.texts.get(text);
  if (own !== undefined || !bundle) return own ?? text;
  const { template, values } = made.get(text) ?? {};
  if (template === undefined || values === undefined) return text;
  const count = values[0];
  const form = typeof count === 'number' ? `${template}#${bundle.forms.select(count)}` : template;
  const { texts } = bundle;
  return fill(texts.get(form) ?? texts.get(template) ?? template, values, (name, value) =>
    typeof value === 'string' && (value.includes(' ') || ours.has(name))
      ? translated(value)
      : value,
  );
}

/** A tag for a text in the language of the person. Its values stay as they are. */
export function said(words: TemplateStringsArray, ...values: Value[]): string {
  return pieces(words)
    .map((piece) => (typeof piece === 'number' ? values[piece] : piece))
    .join('');
}

/** Returns words and numbers of values of a template, in the order of the person's language. */
export function pieces(words: readonly string[]): readonly Value[] {
  const text = bundle?.texts.get(templateOf(words));
  if (text === undefined)
    return words.flatMap((word, index) => (index > 0 ? [index - 1, word] : word));
  return text.split(/\{(\d+)\}/).map((piece, index) => (index % 2 === 1 ? Number(piece) : piece));
}

export function numbered(values: readonly Value[]): Values {
  return Object.fromEntries(values.entries());
}

export function templateOf(words: readonly string[]): string {
  return words.map((word, index) => (index > 0 ? `{${index - 1}}${word}` : word)).join('');
}
