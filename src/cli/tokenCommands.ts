/**
 * `mcp-toolsets headers` and `renew-token` (G6): the header with the token, for the helper programs in the entries of agents,
 * and another token for the agents of the folder.
 */
import { homedir } from 'node:os';
import path from 'node:path';
import { knowsToken } from '../core/files/proof.js';
import { keptToken, renewToken, tokenFileOf } from '../core/files/tokenFile.js';
import { complain, print, reasonOf } from './output.js';

interface HeadersRequest {
  readonly folder: string;
  /** Relative to the working directory. By default the file of the folder. */
  readonly tokenFile: string | undefined;
  readonly port: number;
}

/** Prints the header only after the program on the port has proved that it knows the token. */
export async function headers({ folder, tokenFile, port }: HeadersRequest): Promise<number> {
  const file = path.resolve(tokenFile ?? tokenFileOf(folder, homedir()));
  let token: string | undefined;
  try {
    token = await keptToken(file);
  } catch (error) {
    return complain(`The token is not shown: ${reasonOf(error)}.`);
  }
  if (token === undefined)
    return complain(
      `There is no token in ${file}: nothing has served this folder to other agents yet. Run \`mcp-toolsets serve\`, or set "mcpToolsets.endpoint.port" in the editor.`,
    );
  if (await knowsToken(port, token)) return print(JSON.stringify({ Authorization: `Bearer ${token}` }));
  return complain(
    `No program that knows the token of this folder listens on port ${port}, so the token is not shown. Run \`mcp-toolsets serve\`, or open the folder in the editor.`,
  );
}

/** @param given the path of the token file, relative to the working directory */
export async function renew(folder: string, given: string | undefined): Promise<number> {
  const tokenFile = path.resolve(given ?? tokenFileOf(folder, homedir()));
  try {
    await renewToken(tokenFile);
  } catch (error) {
    return complain(`The token was not renewed: ${reasonOf(error)}.`);
  }
  return print(`${tokenFile} has a new token. Clients that use the old one are disconnected.`);
}
