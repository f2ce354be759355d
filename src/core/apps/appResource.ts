/**
 * Judges what a server answers when the page of an app is read (G8): it must not be too large. Everything here
 * is pure.
 */
import { isObject } from '../base/isObject.js';

/** The largest page in bytes. One file with its libraries has a few hundred kilobytes, and three megabytes at most. */
const largestApp = 8 << 20;

type Contents = readonly Readonly<Record<string, unknown>>[];

/** Says in a phrase that what was read is too large for an app; undefined where it is not. */
export function appTooLarge(contents: unknown): string | undefined {
  const bytes = Math.ceil(bytesIn(objectsIn(contents)));
  return bytes <= largestApp ? undefined : `it has ${bytes} bytes, and an app may have ${largestApp}`;
}

/** Counts the bytes of text and data that were read. */
export function bytesIn(contents: Contents): number {
  return contents.reduce((sum, { text, blob }) => sum + sizeOf(text, 1) + sizeOf(blob, 3 / 4), 0);
}

function sizeOf(content: unknown, share: number): number {
  return typeof content === 'string' ? Buffer.byteLength(content) * share : 0;
}

function objectsIn(contents: unknown): Contents {
  return Array.isArray(contents) ? (contents as unknown[]).filter(isObject) : [];
}
