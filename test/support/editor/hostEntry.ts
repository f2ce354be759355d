/**
 * What the editor runs in the extension host (`extensionTestsPath`): mocha with the one suite beside this file. Each
 * test is reported over the bridge as it ends. Bundled anew for every suite, see `bundle.ts`.
 */
import { findSourceMap } from 'node:module';
import { join } from 'node:path';
import type Mocha from 'mocha';
import { call } from './bridge.ts';
import type { TestEvent } from './bridgeProtocol.ts';
import { forwardEvents } from './mochaEvents.ts';

declare const MOCHA_URL: string;

/** A hook waits for several parts of the editor, each with a limit that names what did not come: together they are below. */
const hookLimitMs = 240_000;

export async function run(): Promise<void> {
  process.setSourceMapsEnabled(true);
  await call('report', { kind: 'begin' });
  const { default: MochaClass } = (await import(MOCHA_URL)) as { default: typeof Mocha };
  const pattern = process.env['MCP_TOOLSETS_TEST_GREP'];
  const mocha = new MochaClass({
    ui: 'bdd',
    timeout: 180_000,
    reporter: MochaClass.reporters.Base,
    ...(pattern && { grep: pattern }),
  });
  mocha.addFile(join(__dirname, 'suite.cjs'));
  await mocha.loadFilesAsync();

  let reported = Promise.resolve<unknown>(undefined);
  const report = (event: TestEvent): void => {
    const told = event.kind === 'fail' ? { ...event, error: inSources(event.error) } : event;
    reported = reported.then(() => call('report', told));
  };
  const failures = await new Promise<number>((done) => {
    const runner = mocha.run(done);
    runner.on('hook', (hook) => void hook.timeout(hookLimitMs));
    forwardEvents(runner, report);
  });
  report({ kind: 'end' });
  await reported;
  if (failures > 0) throw new Error(`${failures} failed`);
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
