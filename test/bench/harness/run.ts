/**
 * One run of the bench: its folder, the product built in it, and all its processes. Every process
 * of a run has the run's mark in its environment, servers and their children included. So the run
 * can find the remaining processes and end them.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { build } from 'esbuild';

export const root = resolve(__dirname, '../../..');
export const markVariable = 'MCP_TOOLSETS_BENCH';

export interface Product {
  /** The production build, made by the product's own build script from the current sources. */
  readonly dist: string;
  /** The part that `activate()` loads if there is a config file. */
  readonly engine: string;
  /** The part with the lists of earlier windows. */
  readonly offerFiles: string;
  readonly guardian: string;
}

export interface RunOptions {
  readonly quick: boolean;
  /** Runs every bench for one short turn, to see that each works. Its figures mean nothing. */
  readonly once: boolean;
  readonly full: boolean;
  /** The folder for each program's CPU profile. Such a build is not minified. */
  readonly profile: string | undefined;
}

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

export class Run {
  readonly mark = `${process.pid}-${randomBytes(4).toString('hex')}`;
  readonly folder = mkdtempSync(join(tmpdir(), 'mcp-toolsets-bench-'));
  readonly env: NodeJS.ProcessEnv = withoutDebugging({ ...process.env, [markVariable]: this.mark });
  private readonly running = new Set<{ kill(): void }>();
  private product_: Promise<Product> | undefined;
  private programs_: Promise<string> | undefined;

  constructor(readonly options: RunOptions) {}

  private get readable(): boolean {
    return this.options.profile !== undefined;
  }

  /** A number of repetitions or items, by the kind of run: usual, `quick` or `once`. */
  count(usual: number, quick: number, once = 1): number {
    if (this.options.once) return once;
    return this.options.quick ? quick : usual;
  }

  product(): Promise<Product> {
    return (this.product_ ??= this.buildProduct());
  }

  /** Path of a program of `test/bench/programs`, bundled and minified like the product. */
  async program(name: string): Promise<string> {
    return join(await (this.programs_ ??= this.buildPrograms()), `${name}.js`);
  }

  /** The run ends it. Release it after it has ended on its way. */
  track(process: { kill(): void }): { release(): void } {
    this.running.add(process);
    return { release: () => this.running.delete(process) };
  }

  killAll(): void {
    for (const process of this.running) process.kill();
    this.running.clear();
  }

  /** Processes with the mark, without this one. Undefined if the system does not list processes. */
  leftovers(): readonly Leftover[] | undefined {
    return marked(`${markVariable}=${this.mark}`);
  }

  /** Ends the remaining processes and returns them. */
  async end(): Promise<readonly Leftover[]> {
    this.killAll();
    // The guardian of a killed engine takes up to 5 s for the worst servers.
    for (let turn = 0; turn < 120 && (this.leftovers() ?? []).length > 0; turn++) await pause(50);
    const left = this.leftovers() ?? [];
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Already gone.
      }
    }
    rmSync(this.folder, { recursive: true, force: true });
    return left;
  }

  /** Builds in a copy, so that `dist/` of this folder stays unchanged. */
  private async buildProduct(): Promise<Product> {
    const copy = join(this.folder, 'product');
    for (const name of [
      'src',
      'esbuild.mjs',
      'build',
      'package.json',
      'package-lock.json',
      'tsconfig.json',
    ]) {
      cpSync(join(root, name), join(copy, name), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
    await promisify(execFile)(
      process.execPath,
      ['esbuild.mjs', ...(this.readable ? [] : ['--production'])],
      {
        cwd: copy,
      },
    );
    const dist = join(copy, 'dist');
    const part = (module: string): string => {
      const found = readdirSync(join(dist, 'chunks')).find(
        (name) => /^(\w+)-\w+\.js$/.exec(name)?.[1] === module,
      );
      if (found === undefined)
        throw new Error(`The build has no part of its own for the module ${module}.`);
      return join(dist, 'chunks', found);
    };
    return {
      dist,
      engine: part('engine'),
      offerFiles: part('offerFiles'),
      guardian: join(dist, 'guardian.js'),
    };
  }

  private async buildPrograms(): Promise<string> {
    const source = join(root, 'test/bench/programs');
    const outdir = join(this.folder, 'programs');
    await build({
      entryPoints: readdirSync(source).map((name) => join(source, name)),
      outdir,
      bundle: true,
      minify: !this.readable,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      mainFields: ['module', 'main'],
      logLevel: 'warning',
    });
    return outdir;
  }
}

/** Debugging the bench does not debug the measured processes. */
function withoutDebugging(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const rest = { ...env };
  delete rest['NODE_OPTIONS'];
  return rest;
}

/** Processes with `NAME=value` in their environment. */
export function marked(entry: string): readonly Leftover[] | undefined {
  if (!existsSync('/proc/self/environ')) return undefined;
  const found: Leftover[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(entry)) continue;
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // A zombie has no command line.
      if (command !== '') found.push({ pid, command });
    } catch {
      // It ended during the read, or belongs to another user.
    }
  }
  return found;
}
