/** Finds the gateway that serves a folder already, of an editor or of `serve` (G6), once it has proved itself. */
import { notedPort } from '../core/files/addressFile.js';
import { knowsToken } from '../core/files/proof.js';
import { tokenIn } from '../core/files/tokenFile.js';

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
