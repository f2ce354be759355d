/**
 * Lets the listener on a port prove its knowledge of a secret, before a client shows its own (G6).
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { systemClock, type Clock } from '../base/clock.js';
import { asFields } from '../base/isObject.js';
import { asText } from '../base/text.js';
import { unlessThrown } from '../base/unlessThrown.js';

const answerLimitMs = 5_000;
const longestProof = 1024;

/** The port is part of the proof, so no other listener can reuse it. */
export function proofOf(token: string, port: number, challenge: string): string {
  return createHmac('sha256', token)
    .update(`mcp-toolsets endpoint ${port} ${challenge}`)
    .digest('base64url');
}

/** The challenge is as long as a key, so it never repeats. */
export const proofPath = /^\/proof\?challenge=([\w-]{43})$/;

/** Whether a listener knows the token, does not know it, or is not there. */
type Proof = 'proven' | 'stranger' | 'silent';

export async function proofAt(
  port: number,
  token: string,
  clock: Clock = systemClock,
): Promise<Proof> {
  const challenge = randomBytes(32).toString('base64url');
  const path = `/proof?challenge=${challenge}`;
  let answer: string;
  try {
    answer = await answerAt(port, path, { clock, longest: longestProof });
  } catch (error) {
    return isUnanswered(error) ? 'silent' : 'stranger';
  }
  const read = unlessThrown(() => JSON.parse(answer) as unknown);
  const given = Buffer.from(asText(asFields(read)['proof']));
  const expected = Buffer.from(proofOf(token, port, challenge));
  return given.length === expected.length && timingSafeEqual(given, expected)
    ? 'proven'
    : 'stranger';
}

export async function knowsToken(port: number, token: string, clock?: Clock): Promise<boolean> {
  return (await proofAt(port, token, clock)) === 'proven';
}

/** Only the system calls have a code without a prefix of Node's parser. */
function isUnanswered(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return error instanceof NoAnswer || /^E[A-Z]+$/.test(code);
}

class NoAnswer extends Error {}

interface Asking {
  readonly clock: Clock;
  /** In UTF-16 code units. */
  readonly longest: number;
  readonly headers?: OutgoingHttpHeaders;
  /** In milliseconds. */
  readonly limitMs?: number | undefined;
}

/** Not `fetch`, because on Node 20 and 22 it forgets its signal after garbage collection. */
export async function answerAt(
  port: number,
  path: string,
  { clock, longest, headers = {}, limitMs = answerLimitMs }: Asking,
): Promise<string> {
  const request = get({
    host: '127.0.0.1',
    port,
    path,
    agent: false,
    headers,
  });
  // An error after the response has no other listener.
  request.on('error', () => undefined);
  const limit = clock.after(limitMs, () => request.destroy(new NoAnswer('It did not answer.')));
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk as string;
      if (text.length > longest) throw new Error('Its answer is too long.');
    }
    return text;
  } finally {
    limit.dispose();
    request.destroy();
  }
}
