/**
 * Runs mocha in the extension host (`extensionTestsPath`), with one suite of the window after
 * another. It reports each test over the bridge at its end. Each window gets a new bundle, see
 * `bundle.ts`.
 */
import { findSourceMap } from 'node:module';
import { join } from 'node:path';
import type Mocha from 'mocha';
import { call } from './bridge.ts';
import type { NextSuite, TestEvent } from './bridgeProtocol.ts';
import { clearWindow, changeSettings } from './clearWindow.ts';
import { runMocha, textOf } from './mochaEvents.ts';

declare const MOCHA_URL: string;

/**
 * A hook waits for several parts of the editor. Each wait has a limit and names the missing event.
 * Together they are below this limit.
 */
const hookLimitMs = 240_000;

export async function run(): Promise<void> {
  process.setSourceMapsEnabled(true);
  const { default: MochaClass } = (await import(MOCHA_URL)) as { default: typeof Mocha };
  let failures = 0;
  let before: NextSuite | undefined;
  for (let next = await call('nextSuite', {}); next; next = await call('nextSuite', {})) {
    await turnTo(next, before);
    failures += await runSuite(MochaClass, join(__dirname, next.file));
    before = next;
  }
  if (failures > 0) throw new Error(`${failures} failed`);
}

/**
 * If a window cannot go on with another suite, this is a failure, and the remaining suites get
 * another window.
 */
async function turnTo(next: NextSuite, before: NextSuite | undefined): Promise<void> {
  try {
    if (before) await clearWindow();
    await call('beginSuite', {});
    if (before) await changeSettings(before.settings, next.settings);
  } catch (error) {
    const title = 'the window goes on with the next suite';
    await call('report', {
      kind: 'fail',
      title,
      fullTitle: title,
      depth: 0,
      error: inSources(textOf(error)),
    });
    throw error;
  }
}

/** @returns the number of failed tests */
async function runSuite(MochaClass: typeof Mocha, file: string): Promise<number> {
  const pattern = process.env['MCP_TOOLSETS_TEST_GREP'];
  const mocha = new MochaClass({
    ui: 'bdd',
    timeout: 180_000,
    reporter: MochaClass.reporters.Base,
    ...(pattern && { grep: pattern }),
  });
  mocha.addFile(file);
  await mocha.loadFilesAsync();

  let reported = Promise.resolve<unknown>(undefined);
  const report = (event: TestEvent): void => {
    const told = event.kind === 'fail' ? { ...event, error: inSources(event.error) } : event;
    reported = reported.then(() => call('report', told));
  };
  const failures = await runMocha(mocha, report, (runner) =>
    runner.on('hook', (hook) => void hook.timeout(hookLimitMs)),
  );
  await reported;
  return failures;
}

/**
 * Maps places in a stack to places in the sources. The editor formats stacks itself, so Node's own
 * mapping is off.
 */
function inSources(stack: string): string {
  return stack.replace(
    /((?:\/|[A-Z]:\\)[^\s()]+\.cjs):(\d+):(\d+)/g,
    (place, file: string, line: string, column: string) => {
      const entry = findSourceMap(file)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (!entry || !('originalSource' in entry)) return place;
      return `${entry.originalSource.replace(/^file:\/\//, '')}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    },
  );
}
