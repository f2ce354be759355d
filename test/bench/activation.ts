/**
 * P1: the extension's cost for the editor before any work, that is loading `dist/extension.js` and
 * `activate()`. Each time is from a fresh process, beside a load of the whole product.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, milliseconds, times } from './harness/figures.js';
import { withProgram } from './harness/program.js';
import { limited, plain, ratio, type Findings } from './harness/report.js';
import type { Run } from './harness/run.js';
import { configText, everything } from './harness/servers.js';

interface Times {
  readonly load: number;
  readonly activate: number;
}

export async function activation(run: Run): Promise<Findings> {
  const { dist } = await run.product();
  const folder = join(run.folder, 'workspace');
  mkdirSync(join(folder, '.minds'), { recursive: true });
  writeFileSync(join(folder, '.minds/mcp.yaml'), configText([{ id: 'everything', ...everything }]));

  const measure = (eager: boolean): Promise<Times> =>
    withProgram(run, 'activation', {}, (program) =>
      program.ask<Times>('measure', { dist, folder, eager }),
    );
  const emptyFile = join(run.folder, 'empty.js');
  writeFileSync(emptyFile, '');
  const measureEmpty = (): Promise<number> =>
    withProgram(run, 'activation', {}, (program) =>
      program.ask<number>('loadAlone', { file: emptyFile }),
    );
  const lazy: Times[] = [];
  const eager: Times[] = [];
  const empty: number[] = [];
  await measure(false);
  await measure(true);
  for (let round = 0; round < run.count(25, 9); round++) {
    lazy.push(await measure(false));
    eager.push(await measure(true));
    empty.push(await measureEmpty());
  }
  const all = (each: readonly Times[]): number =>
    median(each.map(({ load, activate }) => load + activate));
  const activate = median(lazy.map((each) => each.activate));
  const eagerLoad = all(eager);
  return {
    rule: 'P1',
    title: 'Activation',
    rows: [
      limited({
        what: 'activate()',
        ours: milliseconds(activate),
        value: activate,
        limit: 10,
        write: milliseconds,
      }),
      ratio(
        'activate(), eager load of everything',
        { ours: activate, base: eagerLoad },
        { limit: 0.1, write: milliseconds },
      ),
      plain(
        'load of dist/extension.js, eager load of everything',
        milliseconds(median(lazy.map(({ load }) => load))),
        milliseconds(median(eager.map(({ load }) => load))),
        times(median(lazy.map(({ load }) => load)) / median(eager.map(({ load }) => load))),
      ),
      plain(
        'load of dist/extension.js, load of an empty file',
        milliseconds(median(lazy.map(({ load }) => load))),
        milliseconds(median(empty)),
      ),
      plain(
        'load and activate(), eager load of everything',
        milliseconds(all(lazy)),
        milliseconds(eagerLoad),
        times(all(lazy) / eagerLoad),
      ),
    ],
    notes: [
      'fresh processes in turn, production build, a stand-in for the editor’s API that answers at once',
    ],
  };
}
