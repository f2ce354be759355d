/**
 * What the editor runs in the extension host (`extensionTestsPath`): mocha with one suite of the window after another. Each
 * test is reported over the bridge as it ends. Bundled anew for every window, see `bundle.ts`.
 */
import { findSourceMap } from 'node:module';
import { join } from 'node:path';
import type Mocha from 'mocha';
import { call } from './bridge.ts';
import type { NextSuite, TestEvent } from './bridgeProtocol.ts';
import { clearWindow, changeSettings } from './clearWindow.ts';
import { runMocha, textOf } from './mochaEvents.ts';

declare const MOCHA_URL: string;

/** A hook waits for several parts of the editor, each with a limit that names what did not come: together they are below. */
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

/** Where a window cannot go on with another suite, that is a failure; the suites that are left get another window. */
async function turnTo(next: NextSuite, before: NextSuite | undefined): Promise<void> {
  try {
    if (before) await clearWindow();
    await call('beginSuite', {});
    if (before) await changeSettings(before.settings, next.settings);
  } catch (error) {
    const title = 'the window goes on with the next suite';
    await call('report', { kind: 'fail', title, fullTitle: title, depth: 0, error: inSources(textOf(error)) });
    throw error;
  }
}

/** @returns how many tests failed */
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

/** Places in a stack as places in the sources; the editor formats stacks itself, so Node's own translation is off. */
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
