/** The VS Code server as a process: its flags, its environment, and its end with all children. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { onEnd } from './cleanup.ts';
import { editorVariable } from './bridgeProtocol.ts';
import { killNow, processesMarked, waitUntilGone, type ProcessEntry } from './processes.ts';
import type { ServerForm } from './provision.ts';

export interface ServerOptions {
  form: ServerForm;
  /** Holds the editor's settings, state, logs and extensions. */
  dataDir: string;
  extensionsDir: string;
  builtInExtensionsDir: string;
  trust: boolean;
  /** True to start the process for agents beside the extension host. */
  agentHost: boolean;
  env: NodeJS.ProcessEnv;
  logFile: string;
}

/** A server without a connection for this long ends the extension host of the connection. */
const reconnectionGraceSeconds = 10;

export class ServerProcess {
  readonly marker: string;
  readonly origin: string;
  readonly token: string;
  readonly stop: () => Promise<void>;
  readonly #child: ChildProcess;
  /** Programs below these paths are parts of the editor. */
  readonly #roots: readonly string[];

  private constructor(
    child: ChildProcess,
    origin: string,
    token: string,
    marker: string,
    roots: readonly string[],
  ) {
    this.#child = child;
    this.origin = origin;
    this.token = token;
    this.marker = marker;
    // The editor starts its parts by their real path, and a link to its folder has another path.
    this.#roots = roots.flatMap((root) => [root, realpathSync(root)]);
    this.stop = onEnd(() => this.#stop());
  }

  static async start(options: ServerOptions): Promise<ServerProcess> {
    const { form, dataDir } = options;
    const token = randomBytes(16).toString('hex');
    const marker = randomBytes(8).toString('hex');
    const args = [
      join(form.editorRoot, 'out/server-main.js'),
      '--host',
      '127.0.0.1',
      '--port',
      '0',
    ];
    args.push('--connection-token', token, '--accept-server-license-terms', '--disable-telemetry');
    args.push(
      '--server-data-dir',
      dataDir,
      '--user-data-dir',
      dataDir,
      '--extensions-dir',
      options.extensionsDir,
    );
    args.push('--builtin-extensions-dir', options.builtInExtensionsDir);
    args.push(
      '--reconnection-grace-time',
      String(reconnectionGraceSeconds),
      '--enable-smoke-test-driver',
    );
    // With a bridge to another agent host it starts none itself.
    if (!options.agentHost)
      args.push('--agent-host-bridge-path', join(dataDir, 'no-agent-host.sock'));
    if (options.trust) args.push('--disable-workspace-trust');

    const env = { ...options.env, [editorVariable]: marker };
    const child = spawn(form.node, args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const killGroup = (): void => void (child.pid && killNow(-child.pid));
    process.on('exit', killGroup);
    child.once('exit', () => process.off('exit', killGroup));
    const port = await listeningPort(child, options.logFile);
    return new ServerProcess(child, `http://127.0.0.1:${port}`, token, marker, [
      form.editorRoot,
      options.builtInExtensionsDir,
    ]);
  }

  /** Settles with the exit code when the server ends. */
  get ended(): Promise<number> {
    if (this.#child.exitCode !== null) return Promise.resolve(this.#child.exitCode);
    return new Promise((done) => this.#child.once('exit', (code) => done(code ?? 1)));
  }

  /**
   * Every process of this editor except its own parts: language servers, extension hosts, watchers.
   */
  foreignProcesses(): ProcessEntry[] {
    return this.#all().filter(({ command }) => !this.#roots.some((root) => command.includes(root)));
  }

  extensionHosts(): ProcessEntry[] {
    return this.#all().filter(({ command }) => command.includes('--type=extensionHost'));
  }

  #all(): ProcessEntry[] {
    return processesMarked(editorVariable, this.marker).filter(
      ({ pid }) => pid !== this.#child.pid,
    );
  }

  async #stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = new Promise((done) => this.#child.once('exit', done));
      this.#child.kill('SIGTERM');
      const kill = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
      await exited;
      clearTimeout(kill);
    }
    for (const { pid } of await waitUntilGone(() => this.#all(), 300)) killNow(pid);
    if (this.#child.pid) killNow(-this.#child.pid);
    await waitUntilGone(() => this.#all(), 2000);
  }
}

export interface EnvironmentOptions {
  /**
   * The folder for the user's files of the editor and its children. The npm cache stays the real
   * one.
   */
  home: string;
  /** The folder for the editor's sockets and caches. The editor does not remove them. */
  temp: string;
  extra: NodeJS.ProcessEnv;
}

/**
 * The environment of an editor under test: this run's environment without variables of npm and of
 * an outer editor.
 */
export function editorEnvironment({ home, temp, extra }: EnvironmentOptions): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (
      !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$|npm_lifecycle|npm_package|npm_config_local_prefix$)/.test(
        name,
      )
    ) {
      env[name] = value;
    }
  }
  // Elsewhere the path of the temporary folder is too long for a socket below it.
  if (process.platform === 'linux') env['TMPDIR'] = env['XDG_RUNTIME_DIR'] = temp;
  env['npm_config_cache'] ??= join(
    homedir(),
    process.platform === 'win32' ? 'AppData/Local/npm-cache' : '.npm',
  );
  env['npm_config_userconfig'] ??= join(homedir(), '.npmrc');
  env['HOME'] = env['USERPROFILE'] = home;
  return { ...env, ...extra };
}

function listeningPort(child: ChildProcess, logFile: string): Promise<number> {
  const log = createWriteStream(logFile);
  child.stdout?.pipe(log);
  child.stderr?.pipe(log);
  return new Promise((done, failed) => {
    let output = '';
    const look = (chunk: Buffer): void => {
      output += String(chunk);
      const match = /Extension host agent listening on (\d+)/.exec(output);
      if (match) {
        child.stdout?.off('data', look);
        child.stderr?.off('data', look);
        done(Number(match[1]));
      }
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('error', failed);
    child.once('exit', (code) =>
      failed(new Error(`The VS Code server ended with ${code}:\n${output.slice(-2000)}`)),
    );
  });
}
