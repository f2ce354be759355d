/**
 * Logging as a dependency, with redaction before anything is written (E4). What is registered as secret here must
 * not reach any sink: logs, problems, status, diagnostics.
 */
import { escapeRegExp } from './text.js';
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

export interface Log {
  write(level: LogLevel, message: string): void;
}

/** Values shorter than this are not treated as secrets on their own: redacting `1` or `ci` would blank the log. */
const shortestSecret = 6;
const mask = '•••';

export class Redactor {
  private readonly secrets = new Map<string, number>();
  private pattern: RegExp | undefined;

  /** Registers values; the result takes them back. The same value may be registered by several owners. */
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

/** A secret in JSON or in a URL is written with escapes. */
function spellings(value: string): string[] {
  return [...new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])];
}

/** Secrets that can be told by their shape: bearer tokens, URL credentials, query secrets, session ids. */
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
