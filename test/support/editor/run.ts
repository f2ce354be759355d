/**
 * Runs the editor suites: those inside an editor, several of them in the same window, then those outside. Used by
 * `npm test` and from a terminal:
 *
 *     node --import tsx test/support/editor/run.ts [name …] [--grep pattern] [--json file]
 */
import Mocha from 'mocha';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { closeSharedBrowser } from './browser.ts';
import { undoAll, undoOnSignals } from './cleanup.ts';
import { findDesktop } from './desktop.ts';
import { runInside } from './insideSuite.ts';
import { openEditors } from './launch.ts';
import { runMocha } from './mochaEvents.ts';
import { add, SuiteReport, summary, type Counts, type Failure } from './report.ts';
import { keepCertificatesForInstalls } from '../installs.ts';
import { byWindow, insideSuites, outsideSuites, type Suite } from './suites.ts';
import { serverEditor } from './versions.ts';

export interface EditorRunOptions {
  /** Suites to run; none means all. */
  names?: string[];
  grep?: string | undefined;
  /** A suite that fails is run a second time after all others, and counts as what it is then. */
  twice?: boolean;
}

export interface EditorRunResult extends Counts {
  failures: Failure[];
  /** What failed in a suite that was then run a second time. */
  atFirst: Failure[];
}

export async function runEditorSuites({ names = [], grep, twice }: EditorRunOptions): Promise<EditorRunResult> {
  const chosen = <Item extends { name: string }>(all: Item[]): Item[] =>
    names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  const inside = chosen(insideSuites());
  const outside = chosen(outsideSuites());
  const unknown = names.filter((name) => ![...inside, ...outside].some((suite) => suite.name === name));
  if (unknown.length > 0) throw new Error(`There is no editor suite ${unknown.join(', ')}`);

  const desktop = await findDesktop();
  const executable = 'executable' in desktop ? desktop.executable : undefined;
  if ('reason' in desktop) console.log(`Editor suites run on the server form of VS Code: ${desktop.reason}.`);
  else
    console.log('Editor suites run on the desktop form of VS Code; those in test/editor/outside on the server form.');

  const result: EditorRunResult = { passed: 0, failed: 0, skipped: 0, failures: [], atFirst: [] };
  const keep = (report: SuiteReport): void => {
    add(result, report.counts);
    result.failures.push(...report.failures);
  };
  const { isOld, hasAgent } = executable === undefined ? serverEditor() : { isOld: false, hasAgent: true };
  const possible = ({ name, options }: Pick<Suite, 'name' | 'options'>): boolean => {
    const reasons = [
      ...(executable !== undefined && options.needsPage ? ['needs the page: not on the desktop'] : []),
      ...(options.agentMode && !hasAgent ? ['this editor has no agent'] : []),
      ...(options.newEditor && isOld ? ['this editor is too old for it'] : []),
    ];
    const [reason] = reasons;
    if (reason === undefined) return true;
    const report = new SuiteReport(name);
    report.skip(reason);
    keep(report);
    return false;
  };
  const again: (() => Promise<SuiteReport>)[] = [];
  const keepOrRunAgain = (report: SuiteReport, run: () => Promise<SuiteReport>): void => {
    if (!twice || report.counts.failed === 0) return keep(report);
    result.atFirst.push(...report.failures);
    again.push(run);
  };
  for (const together of byWindow(inside.filter(possible))) {
    for (const { suite, report } of await runInside(together, executable, grep)) {
      keepOrRunAgain(report, async () => {
        const [alone] = await runInside([suite], executable, grep);
        return alone?.report ?? report;
      });
    }
  }
  for (const suite of outside.filter(possible)) {
    const run = (): Promise<SuiteReport> => runOutside(suite, grep);
    keepOrRunAgain(await run(), run);
  }
  for (const run of again) keep(await run());
  await closeSharedBrowser();
  return result;
}

async function runOutside(suite: { name: string; file: string }, grep: string | undefined): Promise<SuiteReport> {
  const report = new SuiteReport(suite.name);
  const mocha = new Mocha({ ui: 'bdd', timeout: 180_000, reporter: Mocha.reporters.Base, ...(grep && { grep }) });
  mocha.addFile(suite.file);
  mocha.unloadFiles();
  try {
    await mocha.loadFilesAsync();
    await runMocha(mocha, report.onEvent);
  } catch (error) {
    report.fail(`${suite.name}: loading`, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  if (openEditors.size > 0) report.fail(`${suite.name}: editors left open`, `${openEditors.size}`);
  for (const editor of [...openEditors]) await editor.close();
  return report;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { grep: { type: 'string' }, json: { type: 'string' } },
  });
  keepCertificatesForInstalls();
  undoOnSignals();
  try {
    const result = await runEditorSuites({ names: positionals, grep: values.grep });
    if (values.json) writeFileSync(values.json, JSON.stringify(result));
    console.log(`\n${summary(result)}`);
    process.exitCode = result.failed > 0 ? 1 : 0;
  } finally {
    await undoAll();
  }
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
}
