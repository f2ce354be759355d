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

function named(text: string, spans: readonly SecretSpan[], option: string): NamedSecret[] {
  return spans.flatMap(({ start, end }) => {
    // What is put in by the program that is started is a reference, as `mcp-remote` has them.
    if (start >= end || text.slice(start, end).includes('${')) return [];
    const [, own] = /([A-Za-z_][\w.-]*)\s*[=:]\s*(?:(?:Bearer|Basic|Token)\s+)?$/i.exec(text.slice(0, start)) ?? [];
    const name = text.charAt(end) === '@' ? 'password' : (own ?? (start === 0 ? option : ''));
    return [{ start, end, name }];
  });
}
