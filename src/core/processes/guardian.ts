/**
 * Keeps process trees on POSIX: nothing outlives this process, even if it is killed (X5). A second
 * process reads from a pipe the groups of all servers. When the pipe ends, the host has gone, and
 * the guardian ends the rest. It is /bin/sh, because an idle shell costs almost nothing. At the end
 * it starts Node on guardianMain to find whole trees; without Node, the shell ends the groups and
 * the marked processes. A host may go before it registers a new server, so the guardian looks for
 * marked processes even if none is registered. Signals for the host's group miss its own session.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { LivingTree, markVariable } from './livingTree.js';
import { procEntry } from './processTable.js';
import type { TreeKeeper, TreeMembers } from './treeMembers.js';

interface GuardianOptions {
  readonly mark: string;
  /** The path of the bundled guardianMain. Without it the shell does the work. */
  readonly script: string | undefined;
  readonly execPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** `$1` is the mark as in an environment, `$2` Node, `$3` guardianMain and `$4` the mark for it. */
const shellScript = `
trap '' HUP INT QUIT TERM PIPE
groups= calm=
while IFS= read -r line; do
  case $line in
  bye) calm=1 ;;
  'add '[01] | 'add '*[!0-9]*) ;;
  'add '*) groups="$groups \${line#add }" ;;
  'del '*)
    left=
    for group in $groups; do [ "$group" = "\${line#del }" ] || left="$left $group"; done
    groups=$left ;;
  esac
done
if [ -z "$groups" ] && [ -n "$calm" ]; then exit 0; fi
if [ -x "$2" ] && [ -f "$3" ]; then "$2" "$3" "$4" $groups && exit 0; fi
end() {
  for group in $groups; do kill -s "$1" -- "-$group"; done
  for file in $(grep -lsF -- "$2" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s "$1" -- "\${pid%/environ}"
  done
}
sleep 1
end TERM "$1"
sleep 1
end KILL "$1"
`;

/** The guardian ends servers still registered at `dispose`. This is its longest time for it. */
const endLimitMs = 6000;
const mostRestarts = 3;

export class Guardian implements TreeKeeper {
  private readonly groups = new Set<number>();
  private child: ChildProcess | undefined;
  private restarts = 0;
  private disposing: Promise<void> | undefined;

  constructor(private readonly options: GuardianOptions) {}

  admit(pid: number, mark: string): TreeMembers {
    this.add(pid);
    return new LivingTree({
      groups: [pid],
      mark,
      since: procEntry(pid)?.started,
    });
  }

  add(group: number): void {
    this.groups.add(group);
    if (this.disposing) return;
    if (this.child) this.tell(`add ${group}`);
    else this.start();
  }

  release(group: number): void {
    this.groups.delete(group);
    this.tell(`del ${group}`);
  }

  dispose(): Promise<void> {
    return (this.disposing ??= this.end());
  }

  private start(): void {
    const { execPath, mark, script, env } = this.options;
    // The shell looks for `sleep` and `grep`, and the workspace may have others.
    const PATH = `/usr/bin:/bin:${env['PATH'] ?? ''}`;
    const variable = `${markVariable}=${mark}`;
    const args = [
      '-c',
      shellScript,
      'mcp-toolsets-guardian',
      variable,
      execPath,
      script ?? '',
      mark,
    ];
    const child: ChildProcess = spawn('/bin/sh', args, {
      env: {
        ...env,
        PATH,
        ELECTRON_RUN_AS_NODE: '1',
        LC_ALL: 'C',
        NODE_OPTIONS: undefined,
      },
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    child.on('error', () => {});
    if (child.pid === undefined) return; // The next server tries again.
    child.stdin?.on('error', () => {});
    this.child = child;
    child.once('exit', () => {
      if (this.child === child) this.ended();
    });
    // Neither the process nor the pipe keeps the host alive.
    child.unref();
    (child.stdin as Partial<{ unref(): void }> | null)?.unref?.();
    for (const group of this.groups) this.tell(`add ${group}`);
  }

  private ended(): void {
    this.child = undefined;
    if (this.disposing || this.groups.size === 0 || this.restarts >= mostRestarts) return;
    this.restarts += 1;
    this.start();
  }

  /**
   * The write reaches the pipe before this returns, unless the pipe is full of thousands of lines.
   */
  private tell(line: string): void {
    const stdin = this.child?.stdin;
    if (stdin?.writable) stdin.write(`${line}\n`);
  }

  private async end(): Promise<void> {
    const child = this.child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const exited = once(child, 'exit');
    child.stdin?.end('bye\n');
    const limit = setTimeout(() => child.kill('SIGKILL'), endLimitMs);
    await exited;
    clearTimeout(limit);
    this.child = undefined;
  }
}
