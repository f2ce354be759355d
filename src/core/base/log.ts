/** Every message is redacted and made inert before it is written (E4, S1d). */
import { type Disposable, toDisposable } from './disposables.js';
import { forLog } from './inert.js';
import { KnownSecrets } from './knownSecrets.js';
import { bare } from './readings.js';
import { isTrivial } from './secretNames.js';
import { mask, secretsIn, withoutSecrets } from './secrets.js';
import { asText } from './text.js';
import { unlessThrown } from './unlessThrown.js';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

export interface Log {
  write(level: LogLevel, message: string): void;
}

/** Shorter values are not treated as secrets, because redacting `1` or `ci` would blank the log. */
const shortestSecret = 6;
/** The limit of a text in UTF-16 code units. The rest would only cost time (S2). */
const longestText = 1024 * 1024;
const longestLogText = 64 * 1024;
/** The end of a cut text may be the beginning of a secret. */
const uncertainEnd = 4096;

export class Redactor {
  private readonly secrets = new Map<string, number>();
  private known: KnownSecrets | undefined;
  /** Grows with each change of the known secrets, which may change what `redact` returns. */
  changes = 0;

  /**
   * Registers values until the result is disposed of. Several owners may register the same value.
   */
  register(values: Iterable<string>): Disposable {
    const own = [...new Set([...values].flatMap(partsOf))].filter(
      (value) => value.length >= shortestSecret,
    );
    this.count(own, 1);
    return toDisposable(() => this.count(own, -1));
  }

  private count(values: readonly string[], change: 1 | -1): void {
    for (const value of values) {
      const count = (this.secrets.get(value) ?? 0) + change;
      if (count > 0) this.secrets.set(value, count);
      else this.secrets.delete(value);
    }
    this.known = undefined;
    this.changes += 1;
  }

  redact(text: string, limit = longestText): string {
    if (text.length <= limit) return this.redactWhole(text);
    const head = text.slice(0, limit);
    const end = Math.max(head.lastIndexOf('\n'), head.lastIndexOf(' '), head.length - uncertainEnd);
    return `${this.redactWhole(`${head.slice(0, end)}…`)} (${text.length - end} more characters)`;
  }

  withoutRegistered(text: string): string {
    if (this.secrets.size === 0) return text;
    this.known ??= new KnownSecrets([...this.secrets.keys()].flatMap(spellings), shortestSecret);
    return this.known.masked(text, mask);
  }

  private redactWhole(text: string): string {
    return withoutSecrets(text, { known: (part) => this.withoutRegistered(part) });
  }
}

/** Each part of a value may be quoted separately. */
function partsOf(value: string): string[] {
  return [
    ...[value, bare(value), ...leavesOf(value)].flatMap((text) => [text, ...linesOf(text)]),
    ...secretsIn(value),
  ];
}

function linesOf(value: string): string[] {
  const lines = value.split(/\r\n|\r|\n|\\n/).map((line) => line.trim());
  return lines.length > 1 ? lines.filter((line) => !line.startsWith('-----')) : [];
}

function leavesOf(value: string): string[] {
  if (!/^\s*["[{]/.test(value)) return [];
  const found: string[] = [];
  // It may only begin like JSON.
  unlessThrown(() =>
    JSON.parse(value, (_, inner: unknown) => {
      if (typeof inner !== 'object' && !isTrivial(asText(inner))) found.push(asText(inner));
      return inner;
    }),
  );
  return found;
}

function spellings(value: string): string[] {
  // Half a character cannot stand in an address.
  const inAddress = unlessThrown(() => encodeURIComponent(value)) ?? value;
  return [...new Set([value, JSON.stringify(value).slice(1, -1), inAddress])];
}

export function redactingLog(target: Log, redactor: Redactor): Log {
  return {
    write: (level, message) =>
      target.write(level, forLog(redactor.redact(message, longestLogText))),
  };
}
