/** Runs one suite inside the extension host of an editor, on the server form or on the desktop. */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { repoRoot } from '../npm.mjs';
import { bundleSuite } from './bundle.ts';
import { tempFolder } from './cleanup.ts';
import { startDesktop } from './desktopSession.ts';
import { startEditor, type EditorOptions } from './launch.ts';
import type { ProcessEntry } from './processes.ts';
import { SuiteReport } from './report.ts';
import type { Suite } from './suites.ts';
import { resultsDir } from './versions.ts';
import { copyWorkspace } from './workspaces.ts';

const startLimitMs = 120_000;
/** How long a suite may report nothing, in milliseconds: longer than any of its tests. */
const silenceLimitMs = 240_000;

/** How long the processes of a closed window may take to end, in milliseconds. */
const processesEndLimitMs = 5_000;

/** A window that runs tests, whichever editor it belongs to. */
export interface TestWindow {
  ended: Promise<number>;
  /** Leaves what a person needs to understand a failure in the suite's folder of results. */
  keepTraces(): Promise<void>;
  close(): Promise<void>;
  leftProcesses(limitMs: number): Promise<ProcessEntry[]>;
  dispose(): Promise<void>;
}

/** @param desktop the desktop editor's program; nothing for the server form */
export async function runInside(
  suite: Suite,
  desktop: string | undefined,
  grep: string | undefined,
): Promise<SuiteReport> {
  const report = new SuiteReport(suite.name);
  if (desktop && suite.options.needsPage) {
    report.skip('needs the page: not on the desktop');
    return report;
  }
  const bundle = tempFolder();
  const workspace = copyWorkspace(suite.workspace);
  const target = suite.options.workspaceFile ? join(workspace.path, suite.options.workspaceFile) : workspace.path;
  let window: TestWindow | undefined;
  try {
    const testsPath = await bundleSuite(suite.file, bundle.path);
    const options = editorOptions(suite, workspace.path, grep, report);
    window = await (desktop
      ? startDesktop(desktop, options, target, testsPath)
      : openOnServer(options, target, testsPath));
    await outcome(suite, window, report);
    if (report.counts.failed > 0) {
      await window.keepTraces();
      console.log(`  Traces: ${relative(repoRoot, join(resultsDir, suite.name))}`);
    }
    await window.close();
    const left = await window.leftProcesses(processesEndLimitMs);
    if (left.length > 0) {
      const list = left.map(({ pid, command }) => `${pid} ${command}`).join('\n');
      report.fail(`${suite.name}: processes left after the window closed`, list);
    }
  } catch (error) {
    report.fail(`${suite.name}: the editor`, error instanceof Error ? (error.stack ?? error.message) : String(error));
    await window?.keepTraces().catch(() => undefined);
  } finally {
    await window?.dispose();
    await workspace.remove();
    await bundle.remove();
  }
  return report;
}

/** Waits for the end of the tests; what keeps them from ending is a failure of its own. */
async function outcome({ name }: Suite, { ended }: TestWindow, report: SuiteReport): Promise<void> {
  const settled = new AbortController();
  const within = async (limitMs: number, event: Promise<unknown>): Promise<boolean> => {
    const late = delay(limitMs, 'late' as const, { signal: settled.signal });
    return (await Promise.race([event, ended, late])) !== 'late';
  };
  const endWithoutSilence = async (): Promise<boolean> => {
    for (let heard = -1; heard !== report.events;) {
      heard = report.events;
      if (await within(silenceLimitMs, ended)) return true;
    }
    return false;
  };
  try {
    if (!(await within(startLimitMs, report.begun))) {
      report.fail(`${name}: start`, `The tests did not begin within ${startLimitMs / 1000} s`);
    } else if (!(await endWithoutSilence())) {
      report.fail(`${name}: end`, `Nothing was reported for ${silenceLimitMs / 1000} s`);
    } else if (!report.complete) {
      report.fail(`${name}: end`, `The editor ended before the tests did (exit code ${await ended})`);
    }
  } finally {
    settled.abort();
  }
}

function editorOptions(
  { name, options }: Suite,
  workspace: string,
  grep: string | undefined,
  report: SuiteReport,
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
    onTestEvent: report.onEvent,
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
        writeFileSync(join(options.outputDir, 'console.log'), window.consoleLines.join('\n'));
        await window.screenshot('at-the-end');
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
