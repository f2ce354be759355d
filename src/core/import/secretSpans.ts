/** Names the secrets that the detector of `base/secrets` finds in values of other programs' files (C6, E4). */
import { secretSpansOf, type SecretSpan } from '../base/secrets.js';

/** A stretch of a text that is a secret, and what it is called there. */
export interface NamedSecret {
  readonly start: number;
  readonly end: number;
  /** The name of the option, variable, header or parameter; it is empty where the value has no name. */
  readonly name: string;
}

export function urlSecrets(text: string): NamedSecret[] {
  return named(text, secretSpansOf(text), '');
}

/** @param before the argument in front of it, which may be its option */
export function argumentSecrets(arg: string, before: string | undefined): NamedSecret[] {
  return named(arg, secretSpansOf(arg, before ?? ''), before?.startsWith('-') === true ? before : '');
}

/** Names, with the signs behind them, are not looked for further back, in characters: there may be many secrets in a text. */
const longestName = 100;

/** What stands between the name of a header and its secret. */
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
    // What is put in by the program that is started is a reference, as `mcp-remote` has them.
    if (start >= end || text.slice(start, end).includes('${')) return [];
    const own = nameBefore(text.slice(Math.max(0, start - longestName), start));
    const name = text.charAt(end) === '@' ? 'password' : (own ?? (start === 0 ? option : ''));
    return [{ start, end, name }];
  });
}
