import { randomBytes } from 'node:crypto';
import type { Environment } from './environment.js';
import { Guardian } from './guardian.js';
import { Jobs } from './jobs.js';
import type { ProcessStart } from './processTree.js';

/** Returns what ends the trees of this process with it, and the mark of each next tree. */
export function keeperWith(script: string | undefined, env: Environment) {
  const mark = `${process.pid}-${randomBytes(6).toString('hex')}.`;
  const { execPath, platform } = process;
  const keeper = platform === 'win32' ? new Jobs() : new Guardian({ mark, script, execPath, env });
  let started = 0;
  const next = (): Pick<ProcessStart, 'mark' | 'keeper'> => ({
    mark: `${mark}${++started}.`,
    keeper,
  });
  return { keeper, next };
}
