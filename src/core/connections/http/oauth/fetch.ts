/**
 * Gives the SDK's OAuth functions a `fetch` over our HTTP exchange, so proxies, certificates and failures are the same
 * as for other requests. It follows no redirect; bodies are small.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { HttpAgents } from '../agents.js';
import { exchange, readText } from '../exchange.js';
import { readableAnswer } from './answers.js';

const bodyLimit = 1024 * 1024;
const bodiless = [101, 204, 205, 304];

/** @param signal ends everything in progress. */
export function oauthFetch(agents: HttpAgents, userAgent: string, signal: AbortSignal): FetchLike {
  return async (target, init) => {
    const url = new URL(target);
    const headers = Object.fromEntries(new Headers(init?.headers));
    const { body } = init ?? {};
    if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof URLSearchParams)) {
      throw new TypeError('A body of another kind than the OAuth functions send');
    }
    const reply = await exchange({
      method: init?.method === 'POST' ? 'POST' : 'GET',
      url,
      headers: { accept: 'application/json', ...headers, 'accept-encoding': 'gzip, br', 'user-agent': userAgent },
      credentials: {},
      origin: url,
      body: body === undefined || body === null ? undefined : String(body),
      redirects: 'leave',
      agents,
      signal,
    });
    const text = await readableAnswer(await readText(reply, bodyLimit));
    const replied = new Headers();
    for (const [name, value] of Object.entries(reply.headers)) {
      if (name !== 'content-encoding' && name !== 'content-length' && value !== undefined) {
        replied.set(name, String(value));
      }
    }
    return new Response(bodiless.includes(reply.status) ? null : text, { status: reply.status, headers: replied });
  };
}
