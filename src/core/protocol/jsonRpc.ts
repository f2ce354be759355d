/**
 * JSON-RPC. Reading never throws, and is tolerant to servers only, because a call would hang
 * without its answer.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { withoutMark } from '../base/byteOrderMark.js';
import { asFields, isObject, objectIn, type Fields } from '../base/isObject.js';
import { clipped } from '../base/text.js';
import type { LoopShare, Sliced } from '../base/turns.js';
import { errorCodes, type RpcError } from './errors.js';
import { inBrief } from './inBrief.js';
import { isTooDeep, nestsTooDeep, parseFlattened, parseJson, parsedInSlices } from './json.js';
import { presentAnswer, presentParams, presentResult } from './shapes.js';
import { mostInBatch } from './versions.js';

/**
 * The limits of one message in bytes or characters: of an expected answer, and of anything else.
 */
export const largestAnswer = 16 * 1024 * 1024;
export const largestUnasked = 8 * 1024 * 1024;
/**
 * Longer messages, in characters or bytes, are read in slices and delivered in a separate turn
 * (P10).
 */
export const longMessage = 256 * 1024;
/**
 * The least charge for a message without an open request, in ms, because its further work is not
 * all measured.
 */
export const unaskedMs = 0.125;
/** The same for a request of the server over HTTP, because the answer to it is another exchange. */
export const exchangeMs = 20 * unaskedMs;

export type RequestId = string | number;

export type RequestMessage = Readonly<{
  kind: 'request';
  id: RequestId;
  method: string;
  params: Fields | undefined;
}>;

export type Message =
  | RequestMessage
  | {
      readonly kind: 'notification';
      readonly method: string;
      readonly params: Fields | undefined;
    }
  /** An answer. With neither a result nor an error, it is not a valid one. */
  | {
      readonly kind: 'response';
      readonly id: RequestId | null;
      readonly result?: Fields;
      readonly error?: RpcError;
    }
  | {
      readonly kind: 'invalid';
      readonly id: RequestId | null;
      readonly error: RpcError;
    };

export type Payload =
  | { readonly kind: 'single'; readonly message: Message }
  | { readonly kind: 'batch'; readonly messages: readonly Message[] }
  | { readonly kind: 'unreadable'; readonly error: RpcError };

export function messagesOf(payload: Exclude<Payload, { kind: 'unreadable' }>): readonly Message[] {
  return payload.kind === 'batch' ? payload.messages : [payload.message];
}

function unreadable(message: string, code: number = errorCodes.invalidRequest): Payload {
  return { kind: 'unreadable', error: { code, message } };
}

const notJson = unreadable('The body is not JSON.', errorCodes.parse);

export function parsePayload(text: string): Payload {
  try {
    return payloadOf(parseJson(text), nestsTooDeep(text));
  } catch {
    return notJson;
  }
}

export function* payloadInSlices(text: string): Sliced<Payload> {
  try {
    return payloadOf(yield* parsedInSlices(text), true);
  } catch {
    return notJson;
  }
}

function payloadOf(value: unknown, mayBeDeep: boolean): Payload {
  const read = mayBeDeep ? readUnlessDeep : readStrictly;
  if (!Array.isArray(value)) return { kind: 'single', message: read(value) };
  if (value.length === 0) return unreadable('The batch is empty.');
  if (value.length > mostInBatch)
    return unreadable(`The batch has more than ${mostInBatch} messages.`);
  return { kind: 'batch', messages: value.map(read) };
}

function readUnlessDeep(value: unknown): Message {
  if (!isTooDeep(value)) return readStrictly(value);
  const { id, method } = asFields(value);
  const known = isRequestId(id) ? id : null;
  const code = errorCodes.invalidRequest;
  const error = { code, message: 'The message is nested too deep.' };
  return {
    kind: method === undefined ? 'response' : 'invalid',
    id: known,
    error,
  };
}

/**
 * Protocol 2025-03-26 allows several messages. Returns undefined for anything but JSON-RPC, and for
 * too many.
 */
export function parseMessages(text: string): JSONRPCMessage[] | undefined {
  try {
    // Some runtimes begin their output with a byte order mark.
    return readMessages(parseFlattened(withoutMark(text)));
  } catch {
    return undefined;
  }
}

/** Does the same as `parseMessages` for a long text, in slices charged to the server's share. */
export async function parseLongMessages(
  share: LoopShare,
  text: string,
): Promise<JSONRPCMessage[] | undefined> {
  const value = await share.run(parsedInSlices(withoutMark(text))).catch(() => undefined);
  const messages = value === undefined ? undefined : share.charge(() => readMessages(value));
  for (const message of messages ?? []) {
    const content = contentOf(message);
    if (isObject(content)) share.owns(content);
  }
  return messages;
}

function contentOf(message: JSONRPCMessage): unknown {
  if ('result' in message) return message.result;
  return 'method' in message ? message.params : message.error.data;
}

export function readMessages(value: unknown): JSONRPCMessage[] | undefined {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  if (values.length === 0 || values.length > mostInBatch) return undefined;
  const messages = values.map((each) => wireMessage(readMessage(each, true)));
  return messages.every((message) => message !== undefined) ? messages : undefined;
}

export function wireMessage(message: Message): JSONRPCMessage | undefined {
  const jsonrpc = '2.0';
  if (message.kind === 'invalid') return undefined;
  if (message.kind === 'response') {
    const { id, result, error } = message;
    if (error) return id === null ? { jsonrpc, error } : { jsonrpc, id, error };
    return id === null || !result ? undefined : { jsonrpc, id, result };
  }
  const { method, params } = message;
  if (message.kind === 'notification')
    return params ? { jsonrpc, method, params } : { jsonrpc, method };
  const { id } = message;
  return params
    ? {
        jsonrpc,
        id,
        method,
        params,
      }
    : { jsonrpc, id, method };
}

const readStrictly = (value: unknown): Message => readMessage(value, false);

function readMessage(value: unknown, isTolerant: boolean): Message {
  if (!isObject(value)) return invalid(null, 'A message is a JSON object.');
  const { jsonrpc, method } = value;
  const id = isRequestId(value['id']) ? value['id'] : null;
  if (jsonrpc !== '2.0') return invalid(id, '`jsonrpc` must be "2.0".');
  if (typeof method !== 'string') return readResponse(id, value, isTolerant);
  if ('id' in value && id === null && !isTolerant)
    return invalid(id, '`id` must be a string or a number.');
  const given = value['params'] ?? undefined;
  const found = objectIn(given);
  const params = found && presentParams(method, found);
  if (given !== undefined && !params && !isTolerant)
    return invalid(id, '`params` must be an object.', errorCodes.invalidParams);
  return id === null
    ? {
        kind: 'notification',
        method,
        params,
      }
    : {
        kind: 'request',
        id,
        method,
        params,
      };
}

function invalid(
  id: RequestId | null,
  message: string,
  code: number = errorCodes.invalidRequest,
): Message {
  return {
    kind: 'invalid',
    id,
    error: { code, message },
  };
}

function readResponse(id: RequestId | null, fields: Fields, isTolerant: boolean): Message {
  const isAnswer = 'result' in fields || 'error' in fields;
  if (isAnswer && isTolerant) return readServerResponse(id, fields);
  const { method = null } = fields;
  return isAnswer && method === null
    ? readClientResponse(id, fields)
    : invalid(id, '`method` must be a string.');
}

function readClientResponse(id: RequestId | null, { result, error }: Fields): Message {
  if (isObject(error))
    return {
      kind: 'response',
      id,
      error: readError(error, 'client'),
    };
  const found = objectIn(result);
  return found
    ? {
        kind: 'response',
        id,
        result: presentAnswer(found),
      }
    : { kind: 'response', id };
}

function readServerResponse(id: RequestId | null, fields: Fields): Message {
  const { result, error } = fields;
  if (error !== null && error !== undefined) {
    const given = isObject(error) ? error : { message: error };
    return {
      kind: 'response',
      id,
      error: readError(given, 'server'),
    };
  }
  const found = objectIn(result);
  if (found)
    return {
      kind: 'response',
      id,
      result: presentResult(found),
    };
  // Without an id, it answers no request.
  if (!('result' in fields) || id === null) return { kind: 'response', id };
  const message = `${notAnObject}${inBrief(result, 100)}`;
  return {
    kind: 'response',
    id,
    error: { code: errorCodes.internal, message },
  };
}

/** Begins the error that stands for an answer without an object. */
export const notAnObject = 'The answer has a result that is not an object: ';

/** An agent gets this many characters of an error's message (S2). */
const longestMessage = 64 * 1024;

function readError(error: Fields, whose: 'client' | 'server'): RpcError {
  const { code, message = `The ${whose} gave no reason.`, data } = error;
  return {
    code: Number.isSafeInteger(code) ? (code as number) : errorCodes.internal,
    message:
      typeof message === 'string' ? clipped(message, longestMessage) : inBrief(message, 1000),
    ...(data === undefined ? {} : { data }),
  };
}

export function resultMessage(id: RequestId, resultJson: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultJson}}`;
}

export function errorAnswer(id: RequestId | null, { code, message, data }: RpcError): Fields {
  return {
    jsonrpc: '2.0',
    id,
    error: { code, message, data },
  };
}

export function errorMessage(id: RequestId | null, error: RpcError): string {
  return JSON.stringify(errorAnswer(id, error));
}

export function withId(answer: string, from: RequestId, to: RequestId): string {
  const head = (id: RequestId) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  return answer.startsWith(head(from)) ? head(to) + answer.slice(head(from).length) : answer;
}

export function notificationMessage(method: string, params?: Fields): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    method,
    params,
  });
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}
