import { english } from './language.js';
import { fileError } from './systemError.js';
import { unlessThrown } from './unlessThrown.js';

/**
 * Returns at most `most` UTF-16 code units of a text. A longer one ends in an ellipsis, never in
 * half a character.
 */
export function clipped(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
}

/** Returns a text for any value. `String` throws for some objects from outside. */
export function asText(value: unknown): string {
  if (value instanceof Error) return String(value);
  if (Array.isArray(value)) return 'a list';
  // oxlint-disable-next-line typescript/no-base-to-string -- No object is left.
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

export function messageOf(error: unknown): string {
  return fileError(error) ?? (error instanceof Error ? error.message : asText(error));
}

export function jsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** Without empty ones. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/**
 * Returns JSON with a line for each value. Other texts, and those longer than `most`, stay as they
 * are.
 */
export function laidOut(text: string, most: number): string {
  if (text.length > most || !/^\s*[{[]/.test(text)) return text;
  return unlessThrown(() => JSON.stringify(JSON.parse(text), undefined, 2)) ?? text;
}

/** Returns the text unchanged if it is not encoded. */
export function decoded(text: string): string {
  return unlessThrown(() => decodeURIComponent(text)) ?? text;
}

/** Returns a time in milliseconds as `310 ms` or `3.1 s`. */
export function tookPhrase(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

export function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/** Ends the text with a full stop, if it has no end yet. */
export function asSentence(text: string): string {
  return /[.!?…:”]$/.test(text) ? text : english`${text}.`;
}

/** Joins texts by *and*. */
export function andList(texts: readonly string[]): string {
  return texts.length === 0 ? '' : texts.reduce((all, text) => english`${all} and ${text}`);
}

/**
 * Joins texts by the comma of the person's language.
 * @param tag `said` for names that a view shows, which are never translated
 */
export function commaList(texts: readonly string[], tag = english): string {
  return texts.length === 0 ? '' : texts.reduce((list, text) => tag`${list}, ${text}`);
}

export function shortList(names: readonly string[], most: number, tag = english): string {
  const shown = commaList(names.slice(0, most), tag);
  return names.length > most ? tag`${shown} and ${names.length - most} more` : shown;
}
