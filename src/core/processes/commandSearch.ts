/** Finds the commands of PATH, to distinguish a typing error from a missing program. It only reads folders. */
import { readdir } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { distance } from '../base/nearest.js';
import { variable, type Environment } from './environment.js';

const windowsExtension = /\.(exe|cmd|bat|com|ps1)$/i;
const mostFolders = 200;

export interface PathSearch {
  readonly folders: number;
  /** Resolves to the command on PATH with the nearest name, if one is near. */
  readonly nearest: string | undefined;
}

export async function searchPath(command: string, env: Environment): Promise<PathSearch> {
  const path = variable(env, 'PATH') ?? '';
  const folders = [...new Set(path.split(delimiter).filter((folder) => folder !== ''))].slice(0, mostFolders);
  const listings = await Promise.all(folders.map((folder) => readdir(folder).catch((): string[] => [])));
  const names = new Set(listings.flat().map((name) => name.replace(windowsExtension, '')));
  return { folders: folders.length, nearest: nearestName(command.replace(windowsExtension, ''), names) };
}

/** A short name may have one slip and a long one two; a swap of neighbours counts as one. */
export function nearestName(wanted: string, names: Iterable<string>): string | undefined {
  const most = wanted.length <= 4 ? 1 : 2;
  let best: { name: string; slips: number } | undefined;
  for (const name of names) {
    if (name === wanted || Math.abs(name.length - wanted.length) > most) continue;
    const slips = distance(wanted.toLowerCase(), name.toLowerCase());
    if (slips > most) continue;
    if (!best || slips < best.slips || (slips === best.slips && name < best.name)) best = { name, slips };
  }
  return best?.name;
}
