/**
 * Reads and writes JSON-RPC. Everything here is pure. Reading never throws: an unreadable message becomes an error to
 * answer. Messages are written around existing JSON, so a cached list is not serialized again.
 */
import { isObject } from '../base/isObject.js';
import type { Sliced } from '../base/turns.js';
import { parsedInSlices } from '../protocol/slicedJson.js';
import type { Fields } from '../protocol/client.js';
import { errorCodes, type RpcError } from '../protocol/errors.js';
import { isTooDeep, nestsTooDeep, parseJson } from '../protocol/json.js';
import { mostInBatch } from '../protocol/versions.js';

export type RequestId = string | number;

export type Message =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: Fields | undefined }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Fields | undefined }
  /** The client's answer to a request of ours. */
  | {
      readonly kind: 'response';
      readonly id: RequestId | null;
      /** Undefined together with `error` in an invalid answer. */
      readonly result?: Fields;
      readonly error?: RpcError;
    }
  | { readonly kind: 'invalid'; readonly id: RequestId | null; readonly error: RpcError };

export type Payload =
  | { readonly kind: 'single'; readonly message: Message }
  | { readonly kind: 'batch'; readonly messages: readonly Message[] }
  | { readonly kind: 'unreadable'; readonly error: RpcError };

export function messagesOf(payload: Exclude<Payload, { kind: 'unreadable' }>): readonly Message[] {
  return payload.kind === 'batch' ? payload.messages : [payload.message];
}

export function parsePayload(text: string): Payload {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return { kind: 'unreadable', error: { code: errorCodes.parse, message: 'The body is not JSON.' } };
  }
  return payloadOf(value, nestsTooDeep(text));
}

export function* payloadInSlices(text: string): Sliced<Payload> {
  try {
    return payloadOf(yield* parsedInSlices(text), true);
  } catch {
    return { kind: 'unreadable', error: { code: errorCodes.parse, message: 'The body is not JSON.' } };
  }
}

function payloadOf(value: unknown, mayBeDeep: boolean): Payload {
  const read = mayBeDeep ? toMessage : toShallowMessage;
  if (!Array.isArray(value)) return { kind: 'single', message: read(value) };
  if (value.length === 0) return { kind: 'unreadable', error: invalid('The batch is empty.') };
  if (value.length > mostInBatch) {
    return { kind: 'unreadable', error: invalid(`The batch has more than ${mostInBatch} messages.`) };
  }
  return { kind: 'batch', messages: value.map(read) };
}

function toMessage(value: unknown): Message {
  if (!isTooDeep(value)) return toShallowMessage(value);
  const { id, ...rest } = isObject(value) ? value : {};
  const known = isRequestId(id) ? id : null;
  const error = invalid('The message is nested too deep.');
  return 'method' in rest ? { kind: 'invalid', id: known, error } : { kind: 'response', id: known, error };
}

function toShallowMessage(value: unknown): Message {
  if (!isObject(value)) return { kind: 'invalid', id: null, error: invalid('A message is a JSON object.') };
  const { jsonrpc, method, params } = value;
  const hasId = 'id' in value;
  const id = isRequestId(value['id']) ? value['id'] : null;
  if (jsonrpc !== '2.0') return { kind: 'invalid', id, error: invalid('`jsonrpc` must be "2.0".') };
  if (method === undefined && ('result' in value || 'error' in value)) return toResponse(id, value);
  if (typeof method !== 'string') return { kind: 'invalid', id, error: invalid('`method` must be a string.') };
  if (hasId && id === null) {
    return { kind: 'invalid', id, error: invalid('`id` must be a string or a number.') };
  }
  if (params !== undefined && !isObject(params)) {
    const error = { code: errorCodes.invalidParams, message: '`params` must be an object.' };
    return { kind: 'invalid', id, error };
  }
  return id === null ? { kind: 'notification', method, params } : { kind: 'request', id, method, params };
}

function toResponse(id: RequestId | null, { result, error }: Fields): Message {
  if (isObject(error)) {
    const { code, message, data } = error;
    const told: RpcError = {
      code: typeof code === 'number' ? code : errorCodes.internal,
      message: typeof message === 'string' ? message : 'The client gave no reason.',
      ...(data === undefined ? {} : { data }),
    };
    return { kind: 'response', id, error: told };
  }
  return isObject(result) ? { kind: 'response', id, result } : { kind: 'response', id };
}

function invalid(message: string): RpcError {
  return { code: errorCodes.invalidRequest, message };
}

export function resultMessage(id: RequestId, resultJson: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultJson}}`;
}

export function errorMessage(id: RequestId | null, error: RpcError): string {
  const { code, message, data } = error;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });
}

/** Returns the answer with the id of another request. */
export function withId(answer: string, from: RequestId, to: RequestId): string {
  const head = (id: RequestId): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  return answer.startsWith(head(from)) ? head(to) + answer.slice(head(from).length) : answer;
}

export function notificationMessage(method: string, params?: Fields): string {
  return JSON.stringify({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) });
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}
