/** Reads the command lines of a running tree. Windows shows them to no simple program. */
import { belonging } from './livingTree.js';
import { commandLinesOf, readProcessTable } from './processTable.js';

const mostProcesses = 64;

/** Returns the words of each command line, parents first. macOS does not say where a word ends. */
export async function treeCommands(pid: number): Promise<readonly (readonly string[])[]> {
  if (process.platform === 'win32') return [];
  const table = await readProcessTable();
  const members = belonging(table, [pid], new Set(), new Map());
  const depthOf = (of: number, most = mostProcesses): number => {
    const parent = members.get(of)?.parent;
    return parent === undefined || most === 0 ? 0 : 1 + depthOf(parent, most - 1);
  };
  const ordered = [...members.keys()].sort((a, b) => depthOf(a) - depthOf(b));
  return commandLinesOf(ordered.slice(0, mostProcesses));
}
