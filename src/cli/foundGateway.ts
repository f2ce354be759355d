/** Finds the gateway that serves a folder already, of an editor or of `serve` (G6), once it has proved itself. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { notedPort } from '../core/files/addressFile.js';
import { proofOf, tokenIn } from '../core/files/tokenFile.js';

const proofLimitMs = 5_000;

/**
 * Resolves with undefined where there is none, or where whoever listens does not know the token, which is not shown
 * then.
 */
export async function foundGateway(
  tokenFile: string,
  onStranger: (port: number) => void,
): Promise<{ readonly port: number; readonly token: string } | undefined> {
  const port = await notedPort(tokenFile);
  if (port === undefined) return undefined;
  const token = await tokenIn(tokenFile);
  if (await knowsToken(port, token)) return { port, token };
  onStranger(port);
  return undefined;
}

async function knowsToken(port: number, token: string): Promise<boolean> {
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
