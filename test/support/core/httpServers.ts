/** HTTP servers as processes of the test: fixtures, and server-everything in its HTTP modes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fixturePath } from './bundles.js';
import { officialPath } from './configText.js';
import { startedByTest } from './leftovers.js';
import { within } from './within.js';
import { freePort } from '../freePort.js';

export interface HttpServer {
  readonly url: string;
  readonly pid: number;
  /** Every line of its two streams. */
  readonly lines: readonly string[];
  /** Kills it, and resolves after its end. */
  stop(): Promise<void>;
}

type Env = Readonly<Record<string, string | undefined>>;

/** `http`, `legacy-sse` or `oauth` of test/fixtures/servers. */
export async function startHttpFixture(
  name: string,
  args: readonly string[],
  env: Env,
): Promise<HttpServer> {
  const started = startNode([fixturePath(name), ...args], env);
  const url = await started.line(/^listening (\S+)/);
  return { ...started.server, url };
}

export async function startEverything(
  mode: 'streamableHttp' | 'sse',
  env: Env,
): Promise<HttpServer> {
  const port = await freePort();
  const started = startNode([officialPath('everything'), mode], { ...env, PORT: String(port) });
  await started.line(/(?:listening|running) on port (\d+)/);
  return { ...started.server, url: `http://127.0.0.1:${port}/${mode === 'sse' ? 'sse' : 'mcp'}` };
}

/**
 * Starts a script. `line` resolves with the first group of the first line of output that matches.
 */
export function startNode(
  args: readonly string[],
  env: Env,
  cwd?: string,
): { readonly server: Omit<HttpServer, 'url'>; line(pattern: RegExp): Promise<string> } {
  const child: ChildProcess = spawn(process.execPath, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  const { pid, stdout, stderr } = child;
  if (pid === undefined || !stdout || !stderr) throw new Error(`${args.join(' ')} did not start`);
  const lines: string[] = [];
  const exited = once(child, 'exit');
  const line = (pattern: RegExp): Promise<string> =>
    within(
      new Promise((resolve, reject) => {
        void exited.then(() => reject(new Error(`${args.join(' ')} ended:\n${lines.join('\n')}`)));
        for (const stream of [stdout, stderr]) {
          createInterface({ input: stream }).on('line', (text) => {
            lines.push(text);
            const match = pattern.exec(text);
            if (match) resolve(match[1] ?? '');
          });
        }
      }),
      `the start of ${args.join(' ')}`,
      () => lines.join('\n'),
    );
  const stop = async (): Promise<void> => {
    forget();
    child.kill('SIGKILL');
    await exited;
  };
  const forget = startedByTest(`${args.join(' ')} (process ${pid})`, stop);
  void exited.then(forget);
  return { server: { pid, lines, stop }, line };
}
