/**
 * Logging is a dependency, and everything is redacted before it is written (E4). What is registered as a secret here
 * must not reach logs, problems, status or diagnostics.
 */
import { escapeRegExp } from './text.js';
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

export interface Log {
  write(level: LogLevel, message: string): void;
}

/** Shorter values are not treated as secrets, because redacting `1` or `ci` would blank the log. */
const shortestSecret = 6;
const mask = '•••';

export class Redactor {
  private readonly secrets = new Map<string, number>();
  private pattern: RegExp | undefined;

  /** Registers values until the result is disposed of. Several owners may register the same value. */
  register(values: Iterable<string>): { dispose(): void } {
    const own = [...new Set(values)].filter((value) => value.length >= shortestSecret);
    for (const value of own) this.secrets.set(value, (this.secrets.get(value) ?? 0) + 1);
    this.pattern = undefined;
    let ended = false;
    return {
      dispose: () => {
        if (ended) return;
        ended = true;
        for (const value of own) {
          const count = (this.secrets.get(value) ?? 1) - 1;
          if (count > 0) this.secrets.set(value, count);
          else this.secrets.delete(value);
        }
        this.pattern = undefined;
      },
    };
  }

  redact(text: string): string {
    if (this.secrets.size > 0) {
      this.pattern ??= new RegExp(
        [...this.secrets.keys()]
          .sort((a, b) => b.length - a.length)
          .flatMap((value) => spellings(value))
          .map(escapeRegExp)
          .join('|'),
        'g',
      );
      text = text.replace(this.pattern, mask);
    }
    return redactWellKnown(text);
  }
}

/** Returns the ways to write a secret, which JSON and URLs write with escapes. */
function spellings(value: string): string[] {
  return [...new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])];
}

/** Masks secrets that can be told by their shape: bearer tokens, URL credentials, query secrets and session ids. */
function redactWellKnown(text: string): string {
  return text
    .replace(/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${mask}`)
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"'<>]+@/gi, `$1${mask}@`)
    .replace(
      /([?&](?:[a-z_-]*(?:token|key|secret|password|passwd|signature|sig|auth|session(?:_?id)?|code))=)[^&\s"'<>#]+/gi,
      `$1${mask}`,
    )
    .replace(/(mcp-session-id["']?\s*[:=]\s*["']?)[^\s"',}]+/gi, `$1${mask}`);
}

export function redactingLog(target: Log, redactor: Redactor): Log {
  return { write: (level, message) => target.write(level, redactor.redact(message)) };
}
