/**
 * A lane of `npm test`: a program with tests, in a process group of its own. It always ends and
 * always has a result.
 *
 * A watchdog limits its silence, not its time. Progress is a line of its journal or of its output.
 * A silent lane is described, ended with all its processes, and counted as failed. So is a lane
 * that breaks off, stays alive after its last test, or leaves a process behind. The tests before
 * that keep their results.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runId, tempFolder } from '../editor/cleanup.ts';
import { waitUntilGone } from '../editor/processes.ts';
import { add, type Counts, type Failure } from '../editor/report.ts';
import { repoRoot } from '../npm.mjs';
import { GrowingFile, JournalReader, journalVariable, type Entry } from './journal.ts';
import { asTree, endProcesses, laneVariable, processesOf } from './laneProcesses.ts';
import { tell } from './parent.ts';

export interface Lane {
  /** "integration cli" */
  readonly title: string;
  /** Begins its failures in the summary. */
  readonly part: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly shell?: boolean;
  /** A lane of tests writes a journal. Another lane counts as one test. */
  readonly hasTests: boolean;
  /** The output goes to the terminal at once, or as a whole after the end. */
  readonly output: 'terminal' | 'after';
  /** Runs with low priority. */
  readonly givesWay?: boolean;
}

/** In seconds. The time in which this process cannot run does not count. */
export interface Patience {
  /** Without any progress. */
  readonly silence: number;
  /** From the last test to the end of the process. */
  readonly ending: number;
  /** From the end of the lane to the end of its processes. */
  readonly leaving: number;
}

export interface LaneResult {
  readonly counts: Counts;
  readonly failures: string[];
  /** Failures of editor suites that ran a second time. */
  readonly atFirst: string[];
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It did not start. */
  readonly error?: Error;
}

const second = 1000;
/** The time for an answer to the watchdog, in seconds. */
const answerLimit = 10;

/** @param stop ends the lane early */
export async function runLane(
  lane: Lane,
  patience: Patience,
  stop: AbortSignal,
): Promise<LaneResult> {
  const folder = tempFolder();
  try {
    return await new RunningLane(lane, patience, folder.path).run(stop);
  } finally {
    await folder.remove();
  }
}

let lanes = 0;

class RunningLane {
  private readonly result: LaneResult = {
    counts: { passed: 0, failed: 0, skipped: 0 },
    failures: [],
    atFirst: [],
  };
  private readonly mark = `${runId}.${(lanes += 1)}`;
  private readonly journalFile: string;
  private readonly journal: JournalReader;
  private readonly output: GrowingFile;
  private readonly child: ChildProcess;
  private readonly begun = Date.now();
  private exit: Exit | undefined;
  private readonly exited: Promise<unknown>;
  /** Seconds since the last progress. */
  private quiet = 0;
  private hasEnded = false;
  private current: { readonly title: string; readonly since: number } | undefined;
  private readonly works = new Map<string, number>();
  private alive: readonly string[] | undefined;
  private readonly held: Buffer[] = [];

  constructor(
    private readonly lane: Lane,
    private readonly patience: Patience,
    folder: string,
  ) {
    this.journalFile = join(folder, 'journal.jsonl');
    this.journal = new JournalReader(this.journalFile);
    const outputFile = join(folder, 'output.txt');
    this.output = new GrowingFile(outputFile);
    const outputFd = openSync(outputFile, 'w');
    const env: NodeJS.ProcessEnv = { ...process.env, [laneVariable]: this.mark };
    if (lane.hasTests) env[journalVariable] = this.journalFile;
    this.child = spawn(lane.command, lane.args, {
      cwd: repoRoot,
      env,
      shell: lane.shell ?? false,
      stdio: ['ignore', outputFd, outputFd],
      // The group ends as a whole. On Windows this would open a console.
      detached: process.platform !== 'win32',
    });
    closeSync(outputFd);
    this.exited = new Promise<void>((done) => {
      const over = (exit: Exit): void => {
        this.exit ??= exit;
        done();
      };
      this.child.once('error', (error) => over({ code: null, signal: null, error }));
      // Not `close`: a process that was left behind may hold the output.
      this.child.once('exit', (code, signal) => over({ code, signal }));
    });
    const { pid } = this.child;
    if (pid === undefined) return;
    // If this process is killed, its parent ends the lanes.
    void tell({ lane: pid });
    // Its children inherit the priority.
    if (lane.givesWay) setPriority(pid, constants.priority.PRIORITY_LOW);
  }

  async run(stop: AbortSignal): Promise<LaneResult> {
    if (this.lane.output === 'terminal') console.log(`\n== ${this.lane.title}`);
    // One signal serves all lanes, so each takes its listener away.
    const ended = new AbortController();
    const stopped = new Promise<void>((done) => {
      if (stop.aborted) done();
      else stop.addEventListener('abort', () => done(), { once: true, signal: ended.signal });
    });
    let why: string | undefined;
    while (this.exit === undefined && why === undefined) {
      await Promise.race([this.exited, stopped, pause(second)]);
      this.quiet += 1;
      this.readMore();
      if (this.exit === undefined) why = stop.aborted ? String(stop.reason) : this.overdue();
    }
    ended.abort();
    if (why !== undefined) await this.endEarly(why, stop.aborted);
    await this.nothingLeft();
    this.readMore();
    this.judge(why);
    this.printEnd();
    return this.result;
  }

  private readMore(): void {
    const output = this.output.more();
    const entries = this.journal.more();
    if (output.length + entries.length > 0) this.quiet = 0;
    if (this.lane.output === 'terminal') process.stdout.write(output);
    else this.held.push(output);
    for (const entry of entries) this.take(entry);
  }

  private take(entry: Entry): void {
    const { counts } = this.result;
    switch (entry.kind) {
      case 'begin':
        this.current = { title: entry.title, since: Date.now() };
        return;
      case 'ended':
        this.current = undefined;
        return;
      case 'work':
        this.works.set(entry.what, Date.now());
        return;
      case 'worked':
        this.works.delete(entry.what);
        return;
      case 'passed':
      case 'skipped':
        counts[entry.kind] += 1;
        return;
      case 'failed':
        counts.failed += 1;
        this.result.failures.push(inBrief(this.lane.part, entry));
        return;
      case 'suite':
        add(counts, entry.counts);
        this.result.failures.push(
          ...entry.failures.map((failure) => inBrief(this.lane.part, failure)),
        );
        return;
      case 'atFirst':
        this.result.atFirst.push(
          ...entry.failures.map((failure) => inBrief(this.lane.part, failure)),
        );
        return;
      case 'alive':
        this.alive = entry.lines;
        return;
      case 'end':
        this.hasEnded = true;
        this.current = undefined;
        return;
    }
  }

  /** Says why the lane must end, or undefined. */
  private overdue(): string | undefined {
    const { silence, ending } = this.patience;
    if (this.hasEnded && this.quiet >= ending) return `still ran ${ending} s after its last test`;
    if (this.quiet >= silence) return `made no progress for ${silence} s`;
    return undefined;
  }

  /** Says what still runs, and ends it. */
  private async endEarly(why: string, isStopped: boolean): Promise<void> {
    const { pid } = this.child;
    if (pid === undefined) return;
    const tree = asTree(processesOf(this.mark, pid));
    if (!isStopped && this.lane.hasTests) await this.ask();
    const lines = [...this.doing(), 'processes:', ...tree.map((line) => `  ${line}`)];
    if (this.alive)
      lines.push('what keeps its process alive:', ...this.alive.map((line) => `  ${line}`));
    else if (!isStopped && this.lane.hasTests) lines.push('its event loop does not answer');
    console.log(
      `\n== ${this.lane.title} ${why}, and is ended. What still runs:\n${lines.map(indent).join('\n')}`,
    );
    await endProcesses(this.mark, pid);
    await Promise.race([this.exited, pause(answerLimit * second)]);
  }

  private async ask(): Promise<void> {
    try {
      writeFileSync(`${this.journalFile}.ask`, '');
    } catch {
      return;
    }
    for (let waited = 0; waited < answerLimit && this.exit === undefined; waited++) {
      this.readMore();
      if (this.alive !== undefined) return;
      await Promise.race([this.exited, pause(second)]);
    }
  }

  private doing(): string[] {
    const since = (at: number): string => `since ${((Date.now() - at) / second).toFixed(0)} s`;
    const lines = [...this.works].map(([what, at]) => `work: ${what}, ${since(at)}`);
    if (this.current) lines.unshift(`test: ${this.current.title}, ${since(this.current.since)}`);
    return lines;
  }

  /** A process that outlives its lane is a failure. */
  private async nothingLeft(): Promise<void> {
    const { pid } = this.child;
    if (pid === undefined) return;
    const left = await waitUntilGone(
      () => processesOf(this.mark, pid),
      this.patience.leaving * second,
    );
    if (left.length === 0) return;
    this.fail([`${this.lane.title} left processes behind`, ...asTree(left)].join('\n      '));
    await endProcesses(this.mark, pid);
  }

  private judge(why: string | undefined): void {
    const { exit, hasEnded } = this;
    const { title, hasTests } = this.lane;
    if (why !== undefined) return this.fail([`${title} ${why}`, ...this.doing()].join('\n      '));
    if (exit?.error) return this.fail(`${title} did not start: ${exit.error.message}`);
    const how = exit?.signal ? `by ${exit.signal}` : `with exit code ${exit?.code}`;
    if (!hasTests && exit?.code === 0) this.result.counts.passed += 1;
    if (!hasTests && exit?.code !== 0) this.fail(`${title} ended ${how}`);
    if (!hasTests) return;
    if (!hasEnded)
      return this.fail([`${title} broke off ${how}`, ...this.doing()].join('\n      '));
    if (exit?.code !== 0 && this.result.counts.failed === 0) this.fail(`${title} ended ${how}`);
  }

  private fail(what: string): void {
    this.result.counts.failed += 1;
    this.result.failures.push(what);
  }

  private printEnd(): void {
    const { title, output } = this.lane;
    if (output === 'after') {
      console.log(`\n== ${title}`);
      process.stdout.write(Buffer.concat(this.held));
    }
    console.log(`== ${title}: ${((Date.now() - this.begun) / second).toFixed(1)} s`);
  }
}

/** In lines. */
const mostSaid = 40;

/**
 * A failure in the summary at the end of the run: the test, and of its message the beginning and
 * what differs.
 */
function inBrief(part: string, { fullTitle, error }: Failure): string {
  const isTelling = (line: string, index: number): boolean => index < 5 || /^[+-] /.test(line);
  const said = error.trim().split('\n').filter(isTelling).slice(0, mostSaid);
  return [`${part}: ${fullTitle}`, ...said].join('\n      ');
}

function indent(line: string): string {
  return `   ${line}`;
}
