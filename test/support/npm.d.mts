import type { ChildProcess } from 'node:child_process';

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Keep output back; reject with its last lines when the program fails. */
  quiet?: boolean;
  /** File descriptor of the output. */
  outputFd?: number;
  /** It gets the time that other programs leave. */
  givesWay?: boolean;
  /** Told the process as soon as it is there. */
  started?: (child: ChildProcess) => void;
}

export const repoRoot: string;
export function runToEnd(command: string, args: string[], options?: RunOptions & { shell?: boolean }): Promise<number>;
export function npm(args: string[], options?: RunOptions): Promise<number>;
export function runScript(file: string, args: string[]): Promise<number>;
export function ensureDependencies(): Promise<void>;
