/** Runs suites inside the extension host of an editor, on the server form or on the desktop. */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { repoRoot } from '../npm.mjs';
import type { NextSuite, TestEvent } from './bridgeProtocol.ts';
import type { SuitesInTurn } from './bridgeServer.ts';
import { bundledName, bundleSuites } from './bundle.ts';
import { tempFolder } from './cleanup.ts';
import { startDesktop } from './desktopSession.ts';
import { startEditor, type EditorOptions } from './launch.ts';
import type { ProcessEntry } from './processes.ts';
import { SuiteReport } from './report.ts';
import { userSettings } from './settings.ts';
import type { Suite } from './suites.ts';
import { hangLimitMs, resultsDir } from './versions.ts';
import { copyWorkspace, fillWorkspace } from './workspaces.ts';

/** The limit for a suite without a report, in milliseconds. It is longer than any test. */
const silenceLimitMs = 600_000;

/** The limit for the end of a closed window's processes, in milliseconds. */
const processesEndLimitMs = 5_000;

export interface SuiteRun {
  readonly suite: Suite;
  readonly report: SuiteReport;
}

/** A window with tests, of either editor. */
export interface TestWindow {
  ended: Promise<number>;
  /** Saves screenshots and logs of a failure in the suite's folder of results. */
  keepTraces(): Promise<void>;
  /** The window goes on with another suite. */
  turnTo(outputDir: string): void;
  close(): Promise<void>;
  leftProcesses(limitMs: number): Promise<ProcessEntry[]>;
  dispose(): Promise<void>;
}

/**
 * Runs suites in a shared window. If one of them ends the window, the rest get another one.
 *
 * @param suites one set of `byWindow`
 * @param desktop the desktop editor's program, absent for the server form
 */
export async function runInside(
  suites: readonly Suite[],
  desktop: string | undefined,
  grep: string | undefined,
): Promise<SuiteRun[]> {
  const runs: SuiteRun[] = [];
  for (let left = suites; left.length > 0; left = suites.slice(runs.length)) {
    runs.push(...(await runInOneWindow(left, desktop, grep)));
  }
  return runs;
}

/** @returns a report for each finished suite, at least for the first */
async function runInOneWindow(
  suites: readonly Suite[],
  desktop: string | undefined,
  grep: string | undefined,
): Promise<SuiteRun[]> {
  const [first] = suites as [Suite];
  const bundle = tempFolder();
  const workspace = copyWorkspace(first.workspace);
  const target = first.options.workspaceFile
    ? join(workspace.path, first.options.workspaceFile)
    : workspace.path;
  const turns = new Turns(suites, workspace.path);
  try {
    const testsPath = await bundleSuites(suites, bundle.path);
    const options = { ...editorOptions(first, workspace.path, grep), suites: turns };
    const window = (turns.window = await (desktop
      ? startDesktop(desktop, options, target, testsPath)
      : openOnServer(options, target, testsPath)));
    await outcome(window, turns);
    if (!turns.complete) await turns.keepTraces();
    await window.close();
    const left = await window.leftProcesses(processesEndLimitMs);
    if (left.length > 0) {
      const list = left.map(({ pid, command }) => `${pid} ${command}`).join('\n');
      turns.fail('processes left after the window closed', list);
    }
  } catch (error) {
    turns.fail(
      'the editor',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
    await turns.window?.keepTraces().catch(() => undefined);
  } finally {
    await turns.window?.dispose();
    await workspace.remove();
    await bundle.remove();
  }
  return turns.runs;
}

/** The order of suites in a window, and the events from it. */
class Turns implements SuitesInTurn {
  readonly runs: SuiteRun[] = [];
  /** Settles when the window asks for its first suite. */
  readonly begun: Promise<void>;
  /** Every suite has run. */
  complete = false;
  /** The number of events. */
  events = 0;
  window: TestWindow | undefined;
  #begin!: () => void;

  constructor(
    readonly suites: readonly Suite[],
    readonly workspace: string,
  ) {
    this.begun = new Promise((done) => (this.#begin = done));
  }

  async next(): Promise<NextSuite | null> {
    this.events++;
    this.#begin();
    await this.keepTraces();
    const suite = this.suites[this.runs.length];
    if (suite)
      return {
        file: bundledName(suite),
        settings: userSettings(editorOptions(suite, this.workspace)),
      };
    this.complete = true;
    return null;
  }

  async begin(): Promise<void> {
    this.events++;
    const suite = this.#start();
    if (this.runs.length === 1) return;
    this.window?.turnTo(join(resultsDir, suite.name));
    await fillWorkspace(this.workspace, suite.workspace);
  }

  onTestEvent(event: TestEvent): void {
    this.events++;
    this.#current().report.onEvent(event);
  }

  /** A failure outside any test. */
  fail(what: string, error: string): void {
    const { suite, report } = this.#current();
    report.fail(`${suite.name}: ${what}`, error);
  }

  /** Saves traces of a failed suite before the window is cleared. */
  async keepTraces(): Promise<void> {
    const run = this.runs.at(-1);
    if (!run || run.report.counts.failed === 0) return;
    await this.window?.keepTraces();
    console.log(`  Traces: ${relative(repoRoot, join(resultsDir, run.suite.name))}`);
  }

  #current(): SuiteRun {
    if (this.runs.length === 0) this.#start();
    return this.runs.at(-1) as SuiteRun;
  }

  #start(): Suite {
    const suite = this.suites[this.runs.length] as Suite;
    this.runs.push({ suite, report: new SuiteReport(suite.name) });
    return suite;
  }
}

/** Waits for the end of the tests. An obstacle to their end is a separate failure. */
async function outcome({ ended }: TestWindow, turns: Turns): Promise<void> {
  const settled = new AbortController();
  const within = async (limitMs: number, event: Promise<unknown>): Promise<boolean> => {
    const late = delay(limitMs, 'late' as const, { signal: settled.signal });
    return (await Promise.race([event, ended, late])) !== 'late';
  };
  const endWithoutSilence = async (): Promise<boolean> => {
    for (let heard = -1; heard !== turns.events;) {
      heard = turns.events;
      if (await within(silenceLimitMs, ended)) return true;
    }
    return false;
  };
  try {
    if (!(await within(hangLimitMs, turns.begun))) {
      turns.fail('start', `The tests did not begin within ${hangLimitMs / 1000} s`);
    } else if (!(await endWithoutSilence())) {
      turns.fail('end', `Nothing was reported for ${silenceLimitMs / 1000} s`);
    } else if (!turns.complete) {
      turns.fail('end', `The editor ended before the tests did (exit code ${await ended})`);
    }
  } finally {
    settled.abort();
  }
}

function editorOptions(
  { name, options }: Suite,
  workspace: string,
  grep?: string,
): EditorOptions & { outputDir: string } {
  const { trust, settings, helpers, agentMode, allExtensions, homeFiles } = options;
  const env: NodeJS.ProcessEnv = { MCP_TOOLSETS_TEST_ROOT: repoRoot };
  if (grep) env['MCP_TOOLSETS_TEST_GREP'] = grep;
  for (const [variable, value] of Object.entries(options.env ?? {})) {
    env[variable] = value.replaceAll('${workspace}', workspace);
  }
  return {
    ...(trust !== undefined && { trust }),
    ...(settings && { settings }),
    ...(helpers && { helpers }),
    ...(agentMode !== undefined && { agentMode }),
    ...(allExtensions !== undefined && { allExtensions }),
    ...(homeFiles && { homeFiles }),
    product: options.product === false ? 'none' : 'development',
    env,
    outputDir: join(resultsDir, name),
  };
}

async function openOnServer(
  options: EditorOptions & { outputDir: string },
  target: string,
  testsPath: string,
): Promise<TestWindow> {
  const editor = await startEditor(options);
  try {
    const window = await editor.openWindow(target, { testsPath });
    return {
      ended: Promise.race([window.testsEnded, editor.server.ended]),
      keepTraces: async () => {
        await window.screenshot('at-the-end');
        writeFileSync(
          join(editor.options.outputDir, 'console.log'),
          window.consoleLines.join('\n'),
        );
      },
      turnTo: (outputDir) => {
        editor.options.outputDir = outputDir;
        window.consoleErrors.length = window.consoleLines.length = 0;
      },
      close: () => window.close(),
      leftProcesses: (limitMs) => editor.leftProcesses(limitMs),
      dispose: () => editor.close(),
    };
  } catch (error) {
    await editor.close();
    throw error;
  }
}
