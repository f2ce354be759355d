/**
 * Upstream servers over REST (G7). Answers are JSON; an error has a code and a sentence; no
 * exception gets out.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.js';
import type { Log } from '../../base/log.js';
import { asText } from '../../base/text.js';
import { storedJson } from '../../protocol/json.js';
import { sendJson } from '../eventStreams.js';
import { isJson, readBody, type BodyLimits } from './body.js';

export type RestAnswer =
  | {
      readonly kind: 'value';
      readonly status: 200 | 201;
      readonly value: unknown;
    }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly code: string;
      readonly message: string;
    };

export interface RestBackend {
  upstreams(urlOf: (toolset: string) => string): readonly unknown[];
  upstream(id: string, urlOf: (toolset: string) => string): unknown;
  tools(id: string): RestAnswer;
  add(body: unknown, urlOf: (toolset: string) => string): Promise<RestAnswer>;
}

export interface RestDeps {
  readonly backend: RestBackend;
  readonly clock: Clock;
  readonly log: Log;
  readonly urlOf: (toolset: string) => string;
}

const base = '/api/v1/users/mcp/upstreams';
const bodyLimits: BodyLimits = { maxBytes: 1 << 20, timeoutMs: 10_000 };

export function restError(
  status: number,
  code: string,
  message: string,
): Extract<RestAnswer, { kind: 'error' }> {
  return {
    kind: 'error',
    status,
    code,
    message,
  };
}

export function refuseRest(
  response: ServerResponse,
  why: 'stranger' | 'withoutToken',
  advice: string,
): void {
  if (why === 'stranger') return send(response, restError(403, 'not-local', advice));
  response.setHeader('www-authenticate', 'Bearer');
  const message = 'Send the header Authorization: Bearer, with the token of the endpoint.';
  send(response, restError(401, 'token-wrong', message));
}

export async function serveRest(
  request: IncomingMessage,
  response: ServerResponse,
  deps: RestDeps,
): Promise<void> {
  try {
    const answer = await answerTo(request, response, deps);
    if (answer) send(response, answer);
  } catch (error) {
    deps.log.write('error', `A REST request threw: ${asText((error as Error).stack ?? error)}`);
    send(
      response,
      restError(500, 'internal', 'The request failed inside MCP Toolsets; its log says more.'),
    );
  }
}

/** Resolves to undefined if the client has gone. */
async function answerTo(
  request: IncomingMessage,
  response: ServerResponse,
  { backend, clock, urlOf }: RestDeps,
): Promise<RestAnswer | undefined> {
  const { method = '', url = '' } = request;
  const body = await readBody(request, bodyLimits, clock);
  if (body.kind === 'aborted') return undefined;
  if (body.kind !== 'read') {
    // A client in the middle of sending reads the answer only on an open connection.
    if (body.status === 408) response.setHeader('connection', 'close');
    const code = body.status === 413 ? 'body-too-large' : 'body-too-slow';
    return restError(body.status, code, 'The body is too large or came too slowly.');
  }
  const path = url.replace(/[?#].*$/s, '').replace(/\/$/, '');
  const [, id, part] = new RegExp(`^${base}/([A-Za-z0-9_-]{1,64})(/tools)?$`).exec(path) ?? [];
  if (path !== base && id === undefined)
    return restError(404, 'path-unknown', 'There is nothing at this path.');
  if (method === 'POST' && path === base) {
    if (!isJson(request))
      return restError(415, 'content-type-wrong', 'The body must be application/json.');
    const value = storedJson(body.text);
    if (value === undefined)
      return restError(400, 'not-json', 'The body is not JSON, or it is nested too deep.');
    return backend.add(value, urlOf);
  }
  if (method !== 'GET') {
    response.setHeader('allow', path === base ? 'GET, POST' : 'GET');
    return restError(405, 'method-not-allowed', `This path does not support ${method}.`);
  }
  if (id === undefined) return found({ upstreams: backend.upstreams(urlOf) });
  const upstream = backend.upstream(id, urlOf);
  if (upstream === undefined)
    return restError(404, 'upstream-unknown', `No config file has a server "${id}".`);
  return part === undefined ? found({ upstream }) : backend.tools(id);
}

function found(value: unknown): RestAnswer {
  return {
    kind: 'value',
    status: 200,
    value,
  };
}

function send(response: ServerResponse, answer: RestAnswer): void {
  const { status } = answer;
  const value =
    answer.kind === 'value'
      ? answer.value
      : { error: { code: answer.code, message: answer.message } };
  sendJson(response, status, JSON.stringify(value), { 'cache-control': 'no-store' });
}
