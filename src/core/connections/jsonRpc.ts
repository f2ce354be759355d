/**
 * Makes what a server wrote fit for the SDK, which takes messages in their strict form only and drops others without a
 * word, so that a call whose answer it drops would hang to its time limit. Nothing that means something is lost, and
 * what is not JSON-RPC is said not to be.
 */
import { StringDecoder } from 'node:string_decoder';
import { withoutMark } from '../base/byteOrderMark.js';
import { isObject } from '../base/isObject.js';
import { withoutSecrets } from '../base/secrets.js';
import { clipped } from '../base/text.js';
import { errorCodes } from '../protocol/errors.js';
import type { Sliced } from '../base/turns.js';
import { jsonInBrief, parseFlattened } from '../protocol/json.js';
import { parsedInSlices } from '../protocol/slicedJson.js';
import { mostInBatch } from '../protocol/versions.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

type Id = string | number;
type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the messages of one line, body or event, which are several in protocol 2025-03-26; undefined if it is not
 * JSON-RPC, or more than anyone has use for.
 */
export function parseMessages(text: string): JSONRPCMessage[] | undefined {
  let value: unknown;
  try {
    // Some runtimes begin what they write with a byte order mark.
    value = parseFlattened(withoutMark(text));
  } catch {
    return undefined;
  }
  return readMessages(value);
}

/** The same of a long text. */
export function* messagesInSlices(text: string): Sliced<JSONRPCMessage[] | undefined> {
  let value: unknown;
  try {
    value = yield* parsedInSlices(withoutMark(text));
  } catch {
    return undefined;
  }
  return readMessages(value);
}

const id = String.raw`"id"\s*:\s*("[^"\\]*"|\d+)`;
const version = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const atHead = new RegExp(String.raw`^\s*\{\s*(?:${version}\s*,\s*)?${id}\s*,`);
const atTail = new RegExp(String.raw`,\s*${id}\s*(?:,\s*${version}\s*)?\}\s*$`);

/** Returns the id of a message of which only the beginning and the end are known, as a text; undefined where neither tells. */
export function idInEnds(head: string, tail: string): string | undefined {
  const found = (atHead.exec(head) ?? atTail.exec(tail))?.[1];
  return found?.startsWith('"') ? found.slice(1, -1) : found;
}

/** Decodes UTF-8 that came in pieces. */
export function* decodedInSlices(pieces: readonly Buffer[]): Sliced<string> {
  const decoder = new StringDecoder('utf8');
  const texts: string[] = [];
  for (const piece of pieces) {
    texts.push(decoder.write(piece));
    yield;
  }
  texts.push(decoder.end());
  return texts.join('');
}

export function readMessages(value: unknown): JSONRPCMessage[] | undefined {
  if (!Array.isArray(value)) {
    const message = readMessage(value);
    return message && [message];
  }
  if (value.length === 0 || value.length > mostInBatch) return undefined;
  const messages = value.map(readMessage);
  if (messages.some((message) => message === undefined)) return undefined;
  return messages as JSONRPCMessage[];
}

function readMessage(value: unknown): JSONRPCMessage | undefined {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return undefined;
  const id = readId(value['id']);
  if (typeof value['method'] === 'string') {
    const params = isObject(value['params']) ? { params: withRightMeta(value['params']) } : {};
    const head = id === undefined ? {} : { id };
    return { jsonrpc: '2.0', ...head, method: value['method'], ...params } as JSONRPCMessage;
  }
  if ('error' in value && value['error'] !== null && value['error'] !== undefined)
    return errorAnswer(id, value['error']);
  if (!('result' in value) || id === undefined) return undefined;
  if (isObject(value['result'])) return { jsonrpc: '2.0', id, result: withRightMeta(value['result']) };
  const message = `The answer has a result that is not an object: ${inBrief(value['result'], 100)}`;
  return { jsonrpc: '2.0', id, error: { code: errorCodes.internal, message } };
}

/** Some servers write `_meta: null` for none. */
function withRightMeta(fields: Record<string, unknown>): Record<string, unknown> {
  if (!('_meta' in fields) || isObject(fields['_meta'])) return fields;
  const rest = { ...fields };
  delete rest['_meta'];
  return rest;
}

function readId(value: unknown): Id | undefined {
  return typeof value === 'string' || Number.isSafeInteger(value) ? (value as Id) : undefined;
}

/** An agent is told this many characters of an error's message (S2). */
const longestMessage = 64 * 1024;

function errorAnswer(id: Id | undefined, value: unknown): JSONRPCMessage {
  const error: Fields = isObject(value) ? value : { message: value };
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  return {
    jsonrpc: '2.0',
    ...(id === undefined ? {} : { id }),
    error: {
      code: Number.isSafeInteger(code) ? (code as number) : errorCodes.internal,
      message:
        typeof message === 'string'
          ? clipped(message, longestMessage)
          : message === undefined
            ? 'The server gave no reason.'
            : inBrief(message, 1000),
      ...(data === undefined ? {} : { data }),
    },
  };
}

/** Secrets are longer than a text is short, and one that is cut in two must still be told to be one. */
const lookedAtBehind = 4096;

/**
 * Shortens a text for messages and logs to `limit` characters, with a mark where something was cut. What looks like a
 * secret is taken out before that (E4); a value that is known to be one is recognised at the mark by the redactor. The
 * cut is between words where that takes no more than half of it.
 */
export function shortened(text: string, limit: number): string {
  const isLong = text.length > limit + lookedAtBehind;
  const whole = withoutSecrets(isLong ? `${text.slice(0, limit + lookedAtBehind)}…` : text);
  if (!isLong && whole.length <= limit) return whole;
  let end = Math.min(limit, whole.length);
  while (end > limit / 2 && !/[\s"',;<>(){}[\]&]/.test(whole.charAt(end - 1))) end--;
  return `${whole.slice(0, end > limit / 2 ? end : limit).trimEnd()}…`;
}

/** Returns the JSON of a value for messages and logs, and looks at no more of it than is shown. */
export function inBrief(value: unknown, limit: number): string {
  return value === undefined ? 'nothing' : shortened(jsonInBrief(value, 2 * limit + 4096), limit);
}
