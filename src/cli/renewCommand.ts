/** `mcp-toolsets renew-token`: another token for the agents of the folder (G6). */
import { homedir } from 'node:os';
import path from 'node:path';
import { renewToken, tokenFileOf } from '../core/files/tokenFile.js';
import { print } from './output.js';

/** @param given the path of the token file, relative to where the command runs */
export async function renew(folder: string, given: string | undefined): Promise<number> {
  const tokenFile = path.resolve(given ?? tokenFileOf(folder, homedir()));
  await renewToken(tokenFile);
  return print(`${tokenFile} has a new token. Clients that show the old one are cut off.`);
}
