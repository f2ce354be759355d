/** What a refused request may do: get another credential, or wait. */
import { english } from '../../base/language.js';
import { Readable } from 'node:stream';
import { readRefused, type HttpReply } from './exchange.js';

/** A longer pause is not waited for. */
export const longestPauseMs = 10_000;

const worthReading = [401, 403, 429, 503];

export interface Refusal {
  readonly text: string;
  /** Has the body still. */
  readonly reply: HttpReply;
}

export async function refusalIn(reply: HttpReply): Promise<Refusal | undefined> {
  if (!worthReading.includes(reply.status)) return undefined;
  const text = await readRefused(reply);
  return { text, reply: { ...reply, body: Readable.from([Buffer.from(text)]) } };
}

const ofToken =
  /invalid_token|token\b.{0,60}\b(?:expired|invalid|revoked)|(?:expired|invalid|revoked)\b.{0,20} token/i;

/** True if another credential may help. Some servers refuse one that has ended with 403. */
export function refusesCredential({ text, reply: { status, headers } }: Refusal): boolean {
  const said = `${headers['www-authenticate']} ${text}`;
  return status === 401 || (status === 403 && ofToken.test(said));
}

/** Returns the pause of `Retry-After`, which is in seconds or a date, in milliseconds. */
export function pauseMs({ headers, status }: HttpReply, now: number): number | undefined {
  const after = headers['retry-after'];
  if (after === undefined || status < 400) return undefined;
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

export function askAgain(ms: number): string {
  return english`Ask again in ${Math.ceil(ms / 1000)} s.`;
}
