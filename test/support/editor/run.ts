/**
 * Runs the editor suites. First come those inside an editor, several in the same window, then those
 * outside. `npm test` runs it in a lane for each place, and divides the windows of the suites inside
 * between two lanes. From a terminal:
 *
 *     node --import tsx test/support/editor/run.ts [name …] [--where inside|outside] [--share 1/2]
 *         [--grep pattern] [--twice]
 */
import Mocha from 'mocha';
import { parseArgs } from 'node:util';
import { followLimits } from '../core/runnable.ts';
import { closeSharedBrowser } from './browser.ts';
import { undoAll, undoOnSignals } from './cleanup.ts';
import { findDesktop } from './desktop.ts';
import { runInside } from './insideSuite.ts';
import { openEditors } from './launch.ts';
import { runMocha } from './mochaEvents.ts';
import { add, SuiteReport, summary, type Counts } from './report.ts';
import { keepCertificatesForInstalls } from '../installs.ts';
import { note } from '../testRun/journal.ts';
import { suiteSeconds, windowSeconds } from '../testRun/seconds.ts';
import { inShare, readShare, wholeShare, type Share } from '../testRun/shares.ts';
import { byWindow, insideSuites, outsideSuites, type Suite } from './suites.ts';

const places = ['inside', 'outside'] as const;
/**
 * The place of a suite's tests: the extension host of an editor, or a process that starts editors.
 */
export type Place = (typeof places)[number];

interface EditorRunOptions {
  /** Suites to run. Empty means all. */
  names: string[];
  /** Only the suites of this place. */
  where: Place | undefined;
  /** Only the windows of this share of the suites inside. */
  share: Share;
  grep: string | undefined;
  /** A failing suite runs a second time after all others, and the second result counts. */
  twice: boolean;
}

async function runEditorSuites({
  names,
  where,
  share,
  grep,
  twice,
}: EditorRunOptions): Promise<Counts> {
  const chosen = <Item extends { name: string }>(place: Place, all: Item[]): Item[] =>
    where && where !== place
      ? []
      : all.filter(({ name }) => names.length === 0 || names.includes(name));
  const inside = inShare(byWindow(chosen('inside', insideSuites())), secondsOfWindow, share).flat();
  const outside = chosen('outside', outsideSuites());
  const unknown = names.filter(
    (name) => ![...inside, ...outside].some((suite) => suite.name === name),
  );
  if (unknown.length > 0) throw new Error(`There is no editor suite ${unknown.join(', ')}`);

  const executable = inside.length > 0 ? await desktopForSuites() : undefined;
  const result: Counts = { passed: 0, failed: 0, skipped: 0 };
  const keep = ({ counts, failures }: SuiteReport): void => {
    add(result, counts);
    note({ kind: 'suite', counts, failures });
  };
  const possible = (
    { name, options }: Pick<Suite, 'name' | 'options'>,
    desktop: boolean,
  ): boolean => {
    if (!desktop || !options.needsPage) return true;
    const report = new SuiteReport(name);
    report.skip('needs the page: not on the desktop');
    keep(report);
    return false;
  };
  const again: (() => Promise<SuiteReport>)[] = [];
  const keepOrRunAgain = (report: SuiteReport, run: () => Promise<SuiteReport>): void => {
    if (!twice || report.counts.failed === 0) return keep(report);
    note({ kind: 'atFirst', failures: report.failures });
    again.push(run);
  };
  const wanted = inside.filter((suite) => possible(suite, executable !== undefined));
  for (const together of byWindow(wanted)) {
    for (const { suite, report } of await runInside(together, executable, grep)) {
      keepOrRunAgain(report, async () => {
        const [alone] = await runInside([suite], executable, grep);
        return alone?.report ?? report;
      });
    }
  }
  for (const suite of outside.filter((suite) => possible(suite, false))) {
    const run = (): Promise<SuiteReport> => runOutside(suite, grep);
    keepOrRunAgain(await run(), run);
  }
  for (const run of again) keep(await run());
  await closeSharedBrowser();
  return result;
}

/** The seconds of the suites of a window and of its start. */
function secondsOfWindow(suites: readonly Suite[]): number {
  return suites.reduce((sum, { name }) => sum + (suiteSeconds[name] ?? 20), windowSeconds);
}

/** The desktop editor's program, if suites inside an editor can have it. Prints the choice. */
async function desktopForSuites(): Promise<string | undefined> {
  const desktop = await findDesktop();
  if ('reason' in desktop) {
    console.log(`Editor suites run on the server form of VS Code: ${desktop.reason}.`);
    return undefined;
  }
  console.log(
    'Editor suites run on the desktop form of VS Code; those in test/editor/outside on the server form.',
  );
  return desktop.executable;
}

async function runOutside(
  suite: { name: string; file: string },
  grep: string | undefined,
): Promise<SuiteReport> {
  const report = new SuiteReport(suite.name);
  const mocha = new Mocha({
    ui: 'bdd',
    timeout: 180_000,
    reporter: Mocha.reporters.Base,
    ...(grep && { grep }),
  });
  mocha.addFile(suite.file);
  mocha.unloadFiles();
  try {
    await mocha.loadFilesAsync();
    await runMocha(mocha, report.onEvent);
  } catch (error) {
    report.fail(
      `${suite.name}: loading`,
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
  }
  if (openEditors.size > 0) report.fail(`${suite.name}: editors left open`, `${openEditors.size}`);
  for (const editor of [...openEditors]) await editor.close();
  return report;
}

async function main(): Promise<void> {
  followLimits(Mocha.Runnable.prototype);
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      where: { type: 'string' },
      share: { type: 'string' },
      grep: { type: 'string' },
      twice: { type: 'boolean', default: false },
    },
  });
  const { grep, twice } = values;
  const where = places.find((place) => place === values.where);
  if (where !== values.where) throw new Error(`--where knows ${places.join(', ')}`);
  keepCertificatesForInstalls();
  undoOnSignals();
  try {
    const share = values.share === undefined ? wholeShare : readShare(values.share);
    const result = await runEditorSuites({ names: positionals, where, share, grep, twice });
    note({ kind: 'end' });
    console.log(`\n${summary(result)}`);
    process.exitCode = result.failed > 0 ? 1 : 0;
  } finally {
    await undoAll();
  }
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error);
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    note({ kind: 'failed', fullTitle: 'the run of the suites', error: said });
    note({ kind: 'end' });
    process.exitCode = 1;
  });
}
