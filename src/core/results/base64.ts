/**
 * Decodes base64 as servers send it (V2): with or without padding, in lines, in the alphabet of URLs, behind a `data:`
 * prefix. It works in pieces, because 50 MB at once would hold up everything else. Nothing throws.
 */
import { pieceLength, type Pieces } from './pieces.js';

const foreign = /[^A-Za-z0-9+/_-]/;

/** @param text without a `data:` prefix */
export function* decoded(text: string): Pieces {
  let rest = '';
  let ended = false;
  for (let start = 0; start < text.length; start += pieceLength) {
    const piece = withoutSpace(text.slice(start, start + pieceLength));
    const end = piece.indexOf('=');
    const padding = ended ? piece : end < 0 ? '' : piece.slice(end);
    if (/[^=]/.test(padding)) return 'its data goes on after the end of the base64';
    const characters = piece.slice(0, piece.length - padding.length);
    if (foreign.test(characters)) return 'its data is not base64';
    ended ||= end >= 0;
    const all = rest + characters;
    const whole = all.length - (all.length % 4);
    rest = all.slice(whole);
    if (whole > 0) yield Buffer.from(all.slice(0, whole), 'base64');
  }
  if (rest.length === 1) return 'its data was cut off';
  if (rest.length > 0) yield Buffer.from(rest, 'base64');
  return undefined;
}

/** Returns the spelling that every reader takes. */
export function canonical(text: string): string {
  const plain = /[\s_-]/.test(text) ? withoutSpace(text).replaceAll('-', '+').replaceAll('_', '/') : text;
  return plain.padEnd(Math.ceil(plain.length / 4) * 4, '=');
}

/** Returns the number of decoded bytes, and a few more if the text is in lines. */
export function decodedSize(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((text.length * 3) / 4) - padding);
}

/** Splits off the prefix of a data URL, which some servers put before base64. */
export function splitDataUrl(text: string): { readonly base64: string; readonly type: string | undefined } {
  const prefix = /^data:([^,]{0,200}),/i.exec(text.slice(0, 210));
  if (!prefix) return { base64: text, type: undefined };
  const type = (prefix[1] ?? '').replace(/;\s*base64\s*$/i, '').trim();
  return { base64: text.slice(prefix[0].length), type: type === '' ? undefined : type };
}

function withoutSpace(text: string): string {
  return /\s/.test(text) ? text.replace(/\s+/g, '') : text;
}
