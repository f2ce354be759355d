export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Holds output back and rejects with its last lines if the program fails. */
  quiet?: boolean;
}

export const repoRoot: string;
export function runToEnd(
  command: string,
  args: string[],
  options?: RunOptions & { shell?: boolean },
): Promise<number>;
export function npmCommand(args: readonly string[]): {
  command: string;
  args: string[];
  shell: boolean;
};
export function npm(args: string[], options?: RunOptions): Promise<number>;
export function runScript(file: string, args: string[]): Promise<number>;
export function ensureDependencies(): Promise<void>;
