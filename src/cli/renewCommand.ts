/** `mcp-toolsets renew-token`: another token for the agents of the folder (G6). */
import { homedir } from 'node:os';
import path from 'node:path';
import { renewToken, tokenFileOf } from '../core/files/tokenFile.js';
import { complain, print, reasonOf } from './output.js';

/** @param given the path of the token file, relative to where the command runs */
export async function renew(folder: string, given: string | undefined): Promise<number> {
  const tokenFile = path.resolve(given ?? tokenFileOf(folder, homedir()));
  try {
    await renewToken(tokenFile);
  } catch (error) {
    return complain(`The token was not renewed: ${reasonOf(error)}.`);
  }
  return print(`${tokenFile} has a new token. Clients that use the old one are disconnected.`);
}
