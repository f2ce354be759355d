import type { ChildProcess } from 'node:child_process';

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Holds output back and rejects with its last lines if the program fails. */
  quiet?: boolean;
  /** File descriptor of the output. */
  outputFd?: number;
  /** Runs with low priority. */
  givesWay?: boolean;
  /** Gets the process at its start. */
  started?: (child: ChildProcess) => void;
}

export const repoRoot: string;
export function runToEnd(command: string, args: string[], options?: RunOptions & { shell?: boolean }): Promise<number>;
export function npm(args: string[], options?: RunOptions): Promise<number>;
export function runScript(file: string, args: string[]): Promise<number>;
export function ensureDependencies(): Promise<void>;
