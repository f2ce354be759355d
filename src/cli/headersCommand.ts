/**
 * `mcp-toolsets headers`: the header with the token, for the helper programs in the entries of agents (G6). It is printed
 * only once whoever listens on the port has proved to know the token.
 */
import { homedir } from 'node:os';
import path from 'node:path';
import { knowsToken } from '../core/files/proof.js';
import { keptToken, tokenFileOf } from '../core/files/tokenFile.js';
import { complain, print, reasonOf } from './output.js';

interface HeadersRequest {
  readonly folder: string;
  /** The path, relative to where the command runs; where it is undefined, the folder's own file counts. */
  readonly tokenFile: string | undefined;
  readonly port: number;
}

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
