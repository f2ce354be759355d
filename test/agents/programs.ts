/**
 * The real programs at the versions of `programs.json`, installed into `MCP_TOOLSETS_AGENTS` or the
 * cache of the user.
 */
import { cacheFolder, commandIn, installPinned } from '../support/pinnedPrograms.js';
import pinned from './programs.json';

export type ProgramId = keyof typeof pinned;

export const versionOf = (id: ProgramId): string => pinned[id].version;

const root = cacheFolder('MCP_TOOLSETS_AGENTS', 'mcp-toolsets-agents');

/** Resolves with a folder that has the program in `node_modules`. */
export const install = (id: ProgramId): Promise<string> => installPinned(root, id, pinned[id]);

/** Returns the script or program behind the command of a package. */
export const commandOf = (id: ProgramId, folder: string): string =>
  commandIn(folder, pinned[id].package);
