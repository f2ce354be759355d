/** Runs a command beside Wine, see enter.sh. */
import { join } from 'node:path';
import { repoRoot, runToEnd } from '../npm.mjs';

/** Folders of this machine that are mounted for the command. */
export interface Place {
  readonly root: string;
  readonly prefix: string;
  readonly node: string;
  readonly project: string;
  readonly out: string;
  readonly modules?: string | undefined;
  readonly writable?: boolean;
}

export const nodeExe = 'C:\\Program Files\\nodejs\\node.exe';

/** @returns its exit code */
export function enter(place: Place, command: readonly string[]): Promise<number> {
  const env = {
    ...process.env,
    ROOT: place.root,
    PREFIX: place.prefix,
    NODE: place.node,
    PROJECT: place.project,
    OUT: place.out,
    MODULES: place.modules ?? '',
    WRITABLE: place.writable ? '1' : '',
  };
  return runToEnd('sh', [join(repoRoot, 'test/support/windows/enter.sh'), ...command], { env });
}
