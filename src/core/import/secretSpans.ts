/** Names the secrets found by `base/secrets` in values of other programs' files (C6, E4). */
import { secretSpansOf, type SecretSpan } from '../base/secrets.js';

/** A secret part of a text, with its name there. */
export interface NamedSecret {
  readonly start: number;
  readonly end: number;
  /** The name of the option, variable, header or parameter, or an empty text. */
  readonly name: string;
}

export function urlSecrets(text: string): NamedSecret[] {
  return named(text, secretSpansOf(text), '');
}

/** @param before the argument in front of it; it may be its option */
export function argumentSecrets(arg: string, before: string | undefined): NamedSecret[] {
  return named(arg, secretSpansOf(arg, before ?? ''), before?.startsWith('-') === true ? before : '');
}

/** Names, with the signs behind them, are not looked for further back, in characters: there may be many secrets in a text. */
const longestName = 100;

/** Words between the name of a header and its secret. */
const schemes: ReadonlySet<string> = new Set(['bearer', 'basic', 'token']);

/** Returns the name in `NAME=`, `name: Bearer ` and the like at the end of a text. */
function nameBefore(text: string): string | undefined {
  const rest = text.trimEnd();
  const word = rest.length < text.length ? (/[A-Za-z]{5,6}$/.exec(rest)?.[0] ?? '') : '';
  const sign = (schemes.has(word.toLowerCase()) ? rest.slice(0, -word.length) : rest).trimEnd();
  if (!/[=:]$/.test(sign)) return undefined;
  return /[A-Za-z_][\w.-]*$/.exec(sign.slice(0, -1).trimEnd())?.[0];
}

function named(text: string, spans: readonly SecretSpan[], option: string): NamedSecret[] {
  return spans.flatMap(({ start, end }) => {
    // A placeholder for the started program is a reference, as in `mcp-remote`.
    if (start >= end || text.slice(start, end).includes('${')) return [];
    const own = nameBefore(text.slice(Math.max(0, start - longestName), start));
    const name = text.charAt(end) === '@' ? 'password' : (own ?? (start === 0 ? option : ''));
    return [{ start, end, name }];
  });
}
