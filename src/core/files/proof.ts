/** Lets whoever listens on a port prove to know a secret, to somebody who does not want to show it first (G6). */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const proofLimitMs = 5_000;

/** The port is part of the proof, so that no other listener can pass on a proof of ours as its own. */
export function proofOf(token: string, port: number, challenge: string): string {
  return createHmac('sha256', token).update(`mcp-toolsets endpoint ${port} ${challenge}`).digest('base64url');
}

/** The challenge is as long as a key, so that none is asked for twice. */
export const proofPath = /^\/proof\?challenge=([\w-]{43})$/;

/** Resolves to whether who listens at the port knows the secret. Never rejects. */
export async function knowsToken(port: number, token: string): Promise<boolean> {
  const challenge = randomBytes(32).toString('base64url');
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/proof?challenge=${challenge}`, {
      redirect: 'error',
      signal: AbortSignal.timeout(proofLimitMs),
    });
    const given = Buffer.from(String(((await reply.json()) as { readonly proof?: unknown }).proof));
    const expected = Buffer.from(proofOf(token, port, challenge));
    return given.length === expected.length && timingSafeEqual(given, expected);
  } catch {
    return false;
  }
}
