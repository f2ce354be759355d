/** Commands behind the shell of this system, for servers started by a shell. */
import path from 'node:path';
import { repoRoot } from './npm.mjs';

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

const posix = {
  one: '"$@"; true',
  two: 'sh -c \'"$@"; true\' sh "$@"; true',
  withJob: 'sleep 1000 & "$@"; true',
};
const batchFiles = { one: 'in-shell', two: 'in-two-shells', withJob: 'in-shell-with-job' };

/**
 * A shell that waits for the command. It is one shell, one inside another, or one with another job.
 */
export function inShell(words: readonly string[], kind: keyof typeof posix = 'one'): Command {
  if (process.platform !== 'win32')
    return { command: 'sh', args: ['-c', posix[kind], 'sh', ...words] };
  return {
    command: path.join(repoRoot, 'test/fixtures/servers', `${batchFiles[kind]}.cmd`),
    args: words,
  };
}
