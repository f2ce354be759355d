/**
 * The command line in the product's own build. It runs as a process in a workspace that ends with
 * the test. The build is made once a run in a separate folder, because another build may write
 * `dist/`. The lanes of `npm test` share it. No process may be left after a run.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { launchOf } from '../../../src/core/approval/approvals.js';
import { ConfigState } from '../../../src/core/config/read/merge.js';
import { sourceFiles } from '../../../src/core/config/sources.js';
import { readEnvFile } from '../../../src/core/files/envFile.js';
import { directoryExists } from '../../../src/core/assembly/assemble.js';
import { withoutNpm } from '../../../src/core/processes/environment.js';
import { decidingFinder } from '../../../src/core/packages/decidingFiles.js';
import { programFinder, workspaceRoots } from '../../../src/core/processes/workspacePrograms.js';
import { untilNone, type TestProcess } from '../processes.js';
import { bundlesVariable, runFolder, sharedBuild } from './bundles.js';
import { configText, type Servers } from './configText.js';
import { startedByTest } from './leftovers.js';
import { commandLineIn, copyPackageFolder } from './packageFolder.js';
import { everyProcessOf, killIfThere, runVariable } from './stage.js';
import { sharedWork, untilSo, within, work } from './within.js';

/**
 * A session of its own has no terminal, so no command asks the developer. Windows would open a
 * window for it.
 */
export const apart = { detached: process.platform !== 'win32' } as const;

const starting = new Set(
  'check status tools explain call resources read prompts prompt serve connect'.split(' '),
);

/** Resolves with the path of cli.js. */
export const builtCommandLine = sharedWork('the build of the command line', async () => {
  const shared = process.env[bundlesVariable];
  const made = shared === undefined ? undefined : commandLineIn(path.join(shared, sharedBuild));
  if (made !== undefined && existsSync(made)) return made;
  const root = path.join(runFolder(), 'build');
  rmSync(root, { recursive: true, force: true });
  copyPackageFolder(root);
  const { code, stderr } = await collected(spawn(process.execPath, ['esbuild.mjs'], { cwd: root }))
    .ended;
  assert.equal(code, 0, stderr);
  return commandLineIn(root);
});

export interface Output {
  /** Undefined after a signal. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export class CommandLine {
  readonly mark = randomBytes(8).toString('hex');
  private readonly root = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-cli-'));
  readonly folder = path.join(this.root, 'workspace');
  readonly file = path.join(this.folder, '.minds', 'mcp.yaml');
  /** Missing until a test makes it. */
  home = path.join(this.root, 'home');
  /** If true, the person approves the folder's files before each command that may start servers. */
  approves = true;
  readonly env: Record<string, string | undefined> = {
    // The tests may run by npm themselves (X1b).
    ...withoutNpm(process.env),
    HOME: this.home,
    USERPROFILE: this.home,
    [runVariable]: this.mark,
  };

  private readonly forget = startedByTest(`the command line in ${this.root}`, () => this.abandon());

  private constructor(private readonly script: string) {
    delete this.env['NODE_OPTIONS'];
    mkdirSync(path.dirname(this.file), { recursive: true });
  }

  static async open(config?: Servers | string): Promise<CommandLine> {
    const opened = new CommandLine(await builtCommandLine());
    if (config !== undefined) opened.save(config);
    return opened;
  }

  /** Uses a home folder outside the workspace. */
  useHome(home: string): void {
    this.home = this.env['HOME'] = this.env['USERPROFILE'] = home;
  }

  save(config: Servers | string): void {
    writeFileSync(this.file, typeof config === 'string' ? config : configText(config));
  }

  /** Runs it over this config file, or over the current one. */
  runWith(config: Servers | string | undefined, ...args: string[]): Promise<Output> {
    if (config !== undefined) this.save(config);
    return this.run(...args);
  }

  /** Runs it in the workspace to its end. */
  async run(...args: string[]): Promise<Output> {
    return await this.finish(this.begin(...args));
  }

  /** The command line for an unrelated program. */
  commandOf(...args: string[]): {
    command: string;
    args: string[];
    env: Record<string, string | undefined>;
  } {
    if (this.approves && starting.has(args[0] ?? '')) this.approveAll();
    return { command: process.execPath, args: [this.script, ...args], env: this.env };
  }

  begin(...args: string[]): ChildProcess {
    const { command, args: words, env } = this.commandOf(...args);
    return spawn(command, words, { cwd: this.folder, env, ...apart });
  }

  get approvalsFile(): string {
    return path.join(this.home, '.minds', 'approvals.json');
  }

  /** Approves the current files of a folder, like a person after reading them. */
  approveAll(folder = this.folder): void {
    const sources = sourceFiles([folder], this.home).map((source) => {
      const isThere =
        source.origin !== 'user' &&
        statSync(source.file, { throwIfNoEntry: false })?.isFile() === true;
      return { ...source, text: isThere ? readFileSync(source.file, 'utf8') : undefined };
    });
    const roots = workspaceRoots(sources, this.home);
    const findersFor = () => ({
      programs: programFinder(roots, withoutNpm(this.env)),
      deciding: decidingFinder(roots),
    });
    const deps = {
      env: this.env,
      directoryExists,
      secret: () => 'entered',
      envFile: readEnvFile,
      findersFor,
    };
    const { servers } = new ConfigState().apply(sources, deps).model;
    const launches = servers.flatMap((server) => launchOf(server) ?? []);
    if (launches.length === 0) return;
    let kept: unknown[] = [];
    if (existsSync(this.approvalsFile)) {
      kept = (JSON.parse(readFileSync(this.approvalsFile, 'utf8')) as { approvals: unknown[] })
        .approvals;
    }
    mkdirSync(path.dirname(this.approvalsFile), { recursive: true });
    const made = `${this.approvalsFile}.of-the-test`;
    writeFileSync(made, JSON.stringify({ version: 1, approvals: [...kept, ...launches] }), {
      mode: 0o600,
    });
    renameSync(made, this.approvalsFile);
  }

  /** npm or npx. On Windows they are batch files, and no program can start a batch file. */
  npm(name: 'npm' | 'npx', args: readonly string[], cwd = this.folder): ChildProcess {
    const cli = path.join(path.dirname(process.execPath), 'node_modules/npm/bin', `${name}-cli.js`);
    const onWindows = process.platform === 'win32';
    const words = onWindows ? [cli, ...args] : args;
    return spawn(onWindows ? process.execPath : name, words, { cwd, env: this.env, ...apart });
  }

  /** Waits for its end, and checks that none of its processes are left. */
  async finish(child: ChildProcess): Promise<Output> {
    const output = await outputOf(child);
    await this.leftNothing(child);
    return output;
  }

  /** On Windows a signal is a sudden death, and the system ends the rest (X5). */
  async leftNothing({ signalCode }: ChildProcess): Promise<void> {
    if (process.platform === 'win32' && signalCode !== null)
      await untilNone(() => this.processes(), 5000);
    assert.deepEqual(this.processes(), [], 'processes are left');
  }

  /** Waits for its end while another run goes on. */
  finishBeside(child: ChildProcess): Promise<Output> {
    return outputOf(child);
  }

  /** The same for npm and other programs that only take time. */
  finishWork(child: ChildProcess): Promise<Output> {
    return workOf(child);
  }

  /** Packs the build as npm does. Resolves with the path of the tarball. */
  async packed(): Promise<string> {
    const root = path.join(path.dirname(this.script), '..');
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', this.folder];
    const { code, stdout, stderr } = await workOf(this.npm('npm', args, root));
    assert.equal(code, 0, stderr);
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    return path.join(this.folder, filename);
  }

  processes(): TestProcess[] {
    return everyProcessOf(this.mark);
  }

  /** Resolves when a server with these words in its command line runs. */
  async untilRuns(words: string): Promise<void> {
    await untilSo(
      () => this.processes().some(({ command }) => command.includes(words)),
      `a process ${words}`,
    );
  }

  /** Rejects if a process is left of what it started. */
  async untilGone(): Promise<void> {
    await untilNone(() => this.processes(), 5000);
  }

  /** Ends the engines of `connect` of all folders. They would outlive their clients. */
  async stopEngines(): Promise<void> {
    const engines = (): TestProcess[] =>
      this.processes().filter(({ command }) => command.includes(' engine --folder '));
    for (const { pid } of engines()) process.kill(pid, 'SIGTERM');
    await untilNone(engines, 10_000);
  }

  /** Also after a failure, nothing of it is left. */
  async close(): Promise<void> {
    try {
      await this.stopEngines();
      await this.untilGone();
    } finally {
      this.abandon();
    }
  }

  private abandon(): void {
    this.forget();
    for (const { pid } of this.processes()) killIfThere(pid);
    rmSync(this.root, { recursive: true, force: true });
  }
}

async function outputOf(child: ChildProcess): Promise<Output> {
  const { ended, said } = collected(child);
  return await within(ended, `the end of ${child.spawnargs.join(' ')}`, said);
}

function workOf(child: ChildProcess): Promise<Output> {
  return work(child.spawnargs.join(' '), () => collected(child).ended);
}

function collected(child: ChildProcess): { readonly ended: Promise<Output>; said(): string } {
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr?.on('data', (chunk) => (stderr += String(chunk)));
  const ended = once(child, 'close').then(([code]: (number | null)[]) => ({
    code: code ?? undefined,
    stdout,
    stderr,
  }));
  return { ended, said: () => stdout + stderr };
}
