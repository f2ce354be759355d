/**
 * Texts with a `format` of JSON Schema. A person enters times in the local time zone, and the sent
 * text has its offset. Pure.
 */
import { english } from '../core/base/language.js';
export type Format = 'date' | 'time' | 'date-time' | 'email' | 'uri';

/** The type of the input, and its complaint about a text in another form. */
export const inputs: Readonly<Record<Format, { readonly type: string; readonly wrong: string }>> = {
  date: { type: 'date', wrong: english`This is not a date.` },
  time: { type: 'time', wrong: english`This is not a time.` },
  'date-time': { type: 'datetime-local', wrong: english`This is not a date with a time.` },
  email: { type: 'email', wrong: english`This is not an e-mail address.` },
  uri: { type: 'url', wrong: english`This is not a URI, such as https://example.com.` },
};

export function formatOf(format: unknown): Format | undefined {
  return typeof format === 'string' && Object.hasOwn(inputs, format)
    ? (format as Format)
    : undefined;
}

export function sentText(format: Format, entered: string): string | undefined {
  switch (format) {
    case 'email':
      return /^[^\s@]+@[^\s@]+$/.test(entered) ? entered : undefined;
    case 'uri':
      return URL.canParse(entered) ? entered : undefined;
    case 'date':
      return /^\d{4,}-\d\d-\d\d$/.test(entered) ? entered : undefined;
    case 'time':
      return /^\d\d:\d\d/.test(entered)
        ? withOffset(`${today()}T${entered}`)?.slice(11)
        : undefined;
    case 'date-time':
      return withOffset(entered);
  }
}

export function enteredText(format: Format, sent: string): string | undefined {
  if (format !== 'time' && format !== 'date-time') return sentText(format, sent);
  const date = new Date(format === 'time' ? `${today()}T${sent}` : sent);
  const local = localText(date);
  return format === 'time' ? local?.slice(11) : local;
}

function withOffset(local: string): string | undefined {
  const date = new Date(local);
  const text = localText(date);
  if (text === undefined) return undefined;
  const minutes = -date.getTimezoneOffset();
  const zone = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16);
  return text + (minutes === 0 ? 'Z' : `${minutes < 0 ? '-' : '+'}${zone}`);
}

/** Returns undefined if the year has no four digits, which an input and RFC 3339 need. */
function localText(date: Date): string | undefined {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  const year = local.getUTCFullYear();
  return year >= 0 && year <= 9999 ? local.toISOString().slice(0, -'.000Z'.length) : undefined;
}

function today(): string {
  return localText(new Date())?.slice(0, 10) ?? '';
}
