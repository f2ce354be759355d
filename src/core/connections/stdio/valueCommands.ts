/**
 * Runs programs for values, such as `op` and `pass` (C2c), without a shell, in a process tree ended
 * with them. Their output is a secret and goes into no log. Invariants: starts share the run of a
 * program if they want its output while it runs; a run ends when nobody wants it; when `outputsFor`
 * resolves, nothing is left of runs for it only.
 */
import { english } from '../../base/language.js';
import { withoutMark } from '../../base/byteOrderMark.js';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Clock } from '../../base/clock.js';
import { orAborted } from '../../base/events.js';
import type { Log } from '../../base/log.js';
import type { CommandReference, CommandSource } from '../../config/launchValues.js';
import { literal } from '../../config/model.js';
import type { StartFailure } from '../connection.js';
import { shortened } from '../../protocol/inBrief.js';
import { searchPath, fileOf } from '../../processes/program.js';
import type { Environment } from '../../processes/environment.js';
import { startProcess, type ProcessStart } from '../../processes/processTree.js';
import { commandLine, withoutInterpreter } from '../../failures/stdio.js';

interface ValueCommandsDeps {
  readonly env: () => Environment;
  readonly clock: Clock;
  readonly process: () => Pick<ProcessStart, 'mark' | 'keeper'>;
}

/** A person may have to unlock something first. */
const limitMs = 60_000;
const largestOutput = 64 * 1024;
const quotedLines = 3;
/** The limit for reading the rest of the pipe after the end of the program. */
const drainMs = 200;

type Output =
  | { readonly kind: 'printed'; readonly value: string }
  /** `why` is a predicate, such as `printed nothing`, followed by the output of the program. */
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'stopped' };

interface Run {
  wanted: number;
  readonly stop: AbortController;
  readonly output: Promise<Output>;
}

type Outputs =
  | { readonly kind: 'known'; readonly of: (source: CommandSource) => string }
  | { readonly kind: 'failed'; readonly failure: StartFailure }
  | { readonly kind: 'cancelled' };

export class ValueCommands {
  private readonly runs = new Map<string, Run>();

  constructor(private readonly deps: ValueCommandsDeps) {}

  /**
   * Returns the output of the programs, or why one failed. Never rejects for a program's faults.
   */
  async outputsFor(
    references: readonly CommandReference[],
    log: Log,
    signal: AbortSignal,
  ): Promise<Outputs> {
    const sources = new Map(references.map(({ source }) => [keyOf(source), source]));
    const found = new Map<string, Output>();
    await Promise.all(
      [...sources].map(async ([key, one]) =>
        found.set(key, await this.output(key, one, log, signal)),
      ),
    );
    for (const { source, path } of references) {
      const output = found.get(keyOf(source));
      if (output?.kind === 'failed')
        return {
          kind: 'failed',
          failure: failureOf(source, path, output.why),
        };
    }
    const values = new Map(
      [...found].flatMap(([key, one]) => (one.kind === 'printed' ? [[key, one.value]] : [])),
    );
    if (signal.aborted || values.size < found.size) return { kind: 'cancelled' };
    return { kind: 'known', of: (source) => values.get(keyOf(source)) ?? '' };
  }

  private async output(
    key: string,
    source: CommandSource,
    log: Log,
    signal: AbortSignal,
  ): Promise<Output> {
    const run = this.runs.get(key) ?? this.begin(key, source, log);
    run.wanted++;
    await orAborted(run.output, signal);
    if (--run.wanted > 0 && signal.aborted) return { kind: 'stopped' };
    if (run.wanted === 0) {
      this.forget(key, run);
      run.stop.abort();
    }
    return await run.output;
  }

  private begin(key: string, source: CommandSource, log: Log): Run {
    const stop = new AbortController();
    log.write('debug', `Running ${lineOf(source)} for a value`);
    const run: Run = {
      wanted: 0,
      stop,
      output: this.run(source, stop.signal).finally(() => this.forget(key, run)),
    };
    this.runs.set(key, run);
    return run;
  }

  private forget(key: string, run: Run): void {
    if (this.runs.get(key) === run) this.runs.delete(key);
  }

  private async run(source: CommandSource, signal: AbortSignal): Promise<Output> {
    const { clock } = this.deps;
    const env = this.deps.env();
    const { argv, cwd } = source;
    const [command, ...args] = argv;
    const started = await startProcess({
      ...this.deps.process(),
      command,
      args,
      cwd,
      env,
    });
    if (started.kind === 'notStarted')
      return {
        kind: 'failed',
        why: await whyNotStarted(source, started.error, env),
      };
    const { tree } = started;
    const over = new AbortController();
    const timer = clock.after(limitMs, () => over.abort('late'));
    const stdout = new Captured(tree.stdout, () => over.abort('large'));
    const stderr = new Captured(tree.stderr);
    // A program with a question at its input sees the end of input.
    tree.stdin.end();
    try {
      const exit = await orAborted(tree.exited, AbortSignal.any([signal, over.signal]));
      if (exit)
        await Promise.race([
          stdout.ended,
          new Promise<void>((resolve) => clock.after(drainMs, resolve)),
        ]);
      if (signal.aborted) return { kind: 'stopped' };
      const said = lastLines(stderr.text);
      const failed = (why: string): Output => ({
        kind: 'failed',
        why: said === '' ? why : english`${why}; last on stderr:\n${said}`,
      });
      if (over.signal.reason === 'large')
        return { kind: 'failed', why: 'printed more than 64 KiB and was stopped' };
      if (!exit)
        return failed(english`was stopped because it took longer than ${limitMs / 1000} s`);
      if (exit.signal !== null) return failed(english`was ended by ${exit.signal}`);
      if (exit.code !== 0) return failed(english`exited with code ${exit.code ?? ''}`);
      const value = stdout.text.replace(/(?<![\r\n])[\r\n]+$/, '');
      if (value === '') return failed('printed nothing');
      return { kind: 'printed', value };
    } finally {
      timer.dispose();
      await tree.stop();
    }
  }
}

class Captured {
  private readonly pieces: Buffer[] = [];
  private size = 0;
  private isCut = false;
  readonly ended: Promise<void>;

  /** @param onTooMuch absent if the end of too long a content is kept */
  constructor(stream: Readable, onTooMuch?: () => void) {
    this.ended = finished(stream, { writable: false }).catch(() => undefined);
    stream.on('data', (piece: Buffer) => {
      this.pieces.push(piece);
      this.size += piece.length;
      if (onTooMuch && this.size > largestOutput) onTooMuch();
      while (this.size > largestOutput) {
        this.size -= this.pieces.shift()?.length ?? this.size;
        this.isCut = true;
      }
    });
  }

  get text(): string {
    const text = Buffer.concat(this.pieces).toString('utf8');
    // The end of a secret could not be recognised.
    return this.isCut ? text.slice(text.indexOf('\n') + 1 || text.length) : withoutMark(text);
  }
}

function keyOf({ argv, cwd }: CommandSource): string {
  return JSON.stringify([cwd, ...argv]);
}

function lineOf({ argv: [command, ...args] }: CommandSource): string {
  return commandLine({ command, args: args.map(literal) });
}

function lastLines(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  return lines
    .slice(-quotedLines)
    .map((line) => `  “${shortened(line, 300)}”\n`)
    .join('');
}

async function whyNotStarted(
  { argv: [command], cwd }: CommandSource,
  error: NodeJS.ErrnoException,
  env: Environment,
): Promise<string> {
  if (error.code !== 'ENOENT')
    return english`could not be started (${error.code ?? error.message})`;
  const found = fileOf(command, { cwd, env });
  if (found) return english`could not be started. ${withoutInterpreter(found).replace(/\.$/, '')}`;
  if (/[\\/]/.test(command))
    return 'could not be started, because the file or its folder does not exist';
  const { folders } = await searchPath(command, env);
  return english`could not be started, because it is in none of the ${folders} folders of PATH`;
}

function failureOf(source: CommandSource, path: StartFailure['path'], why: string): StartFailure {
  const line = lineOf(source);
  return {
    code: 'value-command-failed',
    message: why.endsWith('\n')
      ? english`did not start: the program of a value ${why}Command: ${line}.`
      : english`did not start: the program of a value ${why}.\nCommand: ${line}.`,
    fix: why.startsWith('could not be started, because')
      ? 'Install the program, or correct its path. Then start the server again.'
      : 'Run the command in a terminal to see what is missing, for example a sign-in. Then start the server again.',
    path,
  };
}
