/**
 * Classifies failed requests by the provider's codes and words, and decides about another attempt
 * (D4).
 */
import { asText, escapeRegExp } from '../base/text.js';

/**
 * `rejected`: a repetition would change nothing. `unavailable`: the model is not permitted or
 * missing.
 */
type Final = { readonly kind: 'rejected' | 'unavailable' | 'unknown'; readonly text: string };

export type ModelFailure =
  | Final
  | {
      readonly kind: 'transient';
      readonly text: string;
      readonly retryAfterMs: number | undefined;
    };

export type StopReason =
  | Final
  /** The cause seemed to pass, and did not. */
  | {
      readonly kind: 'exhausted';
      readonly text: string;
      readonly attempts: number;
    };

export interface Retry {
  readonly kind: 'retry';
  readonly attempt: number;
  readonly delayMs: number;
  readonly cause: string;
}

export const mostRetries = 3;

/** The first retry waits for so many milliseconds; each further retry waits twice as long. */
const firstDelayMs = 1000;
/** A provider may ask for so many milliseconds; a longer wait is not worth it. */
const longestWaitMs = 60_000;

/**
 * @param retries the retries of this request so far; @param chance in [0, 1), spreads the retries
 * of conversations
 */
export function afterFailure(
  failure: ModelFailure,
  retries: number,
  chance: number,
): Retry | StopReason {
  const { kind, text } = failure;
  if (kind !== 'transient') return { kind, text };
  const asked = failure.retryAfterMs ?? 0;
  if (retries >= mostRetries || asked > longestWaitMs)
    return {
      kind: 'exhausted',
      text,
      attempts: retries + 1,
    };
  const backOff = firstDelayMs * 2 ** retries * (1 + chance / 4);
  return {
    kind: 'retry',
    attempt: retries + 1,
    delayMs: Math.max(backOff, asked),
    cause: text,
  };
}

const deepestCause = 4;

export function failureOf(error: unknown): ModelFailure {
  const causes = causesOf(error);
  const all = causes.map(({ message }) => (typeof message === 'string' ? message.trim() : ''));
  const texts = all.filter(
    (text, at) => text !== '' && !all.slice(0, at).some((earlier) => earlier.includes(text)),
  );
  const codes = causes.flatMap(({ code }) =>
    typeof code === 'string' && code !== '' ? [code] : [],
  );
  const numbers = causes.flatMap(({ status, statusCode, code }) => [status, statusCode, code]);
  const text = texts.join(' – ') || 'the provider gave no reason';
  const words = `${codes.join(' ')} ${texts.join(' ')}`;
  const status = numbers.find(isHttpError) ?? statusIn(words);
  const kind = kindByStatus(status, words) ?? kindByWords(codes, words);
  return kind === 'transient'
    ? {
        kind,
        text,
        retryAfterMs: retryAfterIn(words),
      }
    : { kind, text };
}

type Kind = ModelFailure['kind'];

function kindByStatus(status: number | undefined, words: string): Kind | undefined {
  if (status === undefined) return undefined;
  if (status === 429) return usedUp.test(words) ? 'unavailable' : 'transient';
  if (status === 408 || status === 425 || status >= 500) return 'transient';
  if (status === 401 || status === 402 || status === 403) return 'unavailable';
  if (status === 404) return refusal.test(words) ? 'rejected' : 'unavailable';
  return 'rejected';
}

function kindByWords(codes: readonly string[], words: string): Kind {
  if (codes.includes('NoPermissions') || codes.includes('NotFound')) return 'unavailable';
  if (codes.includes('Blocked'))
    return passing.test(words) && !usedUp.test(words) ? 'transient' : 'unavailable';
  if (refusal.test(words)) return 'rejected';
  if (usedUp.test(words) || forbidden.test(words)) return 'unavailable';
  return passing.test(words) ? 'transient' : 'unknown';
}

const refusal =
  /invalid[ _-](?:request|schema|tool|type|param|argument|input|json|function|prompt|value)|\b(?:request|schema|tools?|function|parameters?)\b[^.]{0,80}\b(?:is|are|was|were)? ?(?:invalid|malformed|not supported|unsupported|rejected|not allowed)|bad request|unprocessable|validation(?:_| )error|does not match (?:the )?pattern|string does not match|context[_ ]length|too (?:long|many tokens|many tools)|maximum context|token limit|prompt is too|request too large|array schema missing items|off_topic|content[_ ](?:filter|policy)|input_schema/i;
const usedUp =
  /insufficient[_ ]quota|quota|credit balance|billing|payment required|out of credits|spending limit/i;
const forbidden =
  /unauthori[sz]ed|forbidden|permission|not signed in|sign in|api key|access denied|model[_ ]not[_ ]/i;
const passing =
  /rate[ _-]?limit|too many requests|throttl|overloaded|over capacity|timed? ?out|timeout|econn(?:reset|refused|aborted)|etimedout|enotfound|eai_again|epipe|enetunreach|ehostunreach|socket hang ?up|network|fetch failed|net::err_|connection (?:was |is )?(?:closed|reset|lost|dropped|refused|error|aborted)|stream (?:was |is )?(?:ended|closed|reset|interrupted)|premature|terminated|other side closed|temporarily|service unavailable|bad gateway|gateway time|internal server error|server[_ ]error|try again/i;

const statusWords =
  /\b(?:status(?:[ _]?code)?|http(?:\/\d(?:\.\d)?)?|request failed|error(?: code)?|code|failed with)\b["']?\s*(?:[:=(]\s*)?["']?([45]\d\d)\b/i;
const statusPhrase =
  /\b([45]\d\d)\b["':,)]?\s+["']?(?:bad request|unauthori[sz]ed|payment|forbidden|not found|request timeout|conflict|payload|unprocessable|too many|internal|not implemented|bad gateway|service unavailable|gateway|\{)/i;

function statusIn(words: string): number | undefined {
  const found =
    statusWords.exec(words)?.[1] ??
    statusPhrase.exec(words)?.[1] ??
    /^\s*([45]\d\d)\b/.exec(words)?.[1];
  return found === undefined ? undefined : Number(found);
}

const waits =
  /(?:retry[- _]?after|try again in|retry in|wait(?: for)?)["']?\s*(?:[:=]\s*)?["']?(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s\b|sec|seconds?|m\b|min|minutes?)?/i;

function retryAfterIn(words: string): number | undefined {
  const found = waits.exec(words);
  if (!found) return undefined;
  const unit = (found[2] ?? 's').toLowerCase();
  const factor =
    unit.startsWith('ms') || unit.startsWith('milli') ? 1 : unit.startsWith('m') ? 60_000 : 1000;
  return Math.round(Number(found[1]) * factor);
}

function causesOf(error: unknown): readonly Readonly<Record<string, unknown>>[] {
  const causes: Record<string, unknown>[] = [];
  for (
    let current = error;
    causes.length < deepestCause && current !== undefined && current !== null;
  ) {
    const cause =
      typeof current === 'object'
        ? (current as Record<string, unknown>)
        : { message: asText(current) };
    causes.push(cause);
    current = cause['cause'];
  }
  return causes;
}

function isHttpError(status: unknown): status is number {
  return typeof status === 'number' && status >= 400 && status < 600;
}

/**
 * Returns the tool of a rejection, by its name or by its index in the sent list, as in
 * `tools[3].function`.
 */
export function toolIn(text: string, sent: readonly string[]): string | undefined {
  const named = sent.filter((name) =>
    new RegExp(`(?<![\\w-])${escapeRegExp(name)}(?![\\w-])`).test(text),
  );
  // A name may be a word of the sentence, and the longest is the least likely to be one.
  const quoted = named.filter((name) => new RegExp(`['"\`]${escapeRegExp(name)}['"\`]`).test(text));
  const found = longest(quoted) ?? longest(named.filter((name) => /[_-]/.test(name)));
  if (found !== undefined) return found;
  const index = /\btools(?:\.|\[)(\d+)\b/.exec(text)?.[1];
  const indexed = index === undefined ? undefined : sent[Number(index)];
  return (
    indexed ?? (named.length === 1 && /\b(?:function|tool)\b/i.test(text) ? named[0] : undefined)
  );
}

function longest(names: readonly string[]): string | undefined {
  return [...names].sort((a, b) => b.length - a.length)[0];
}
