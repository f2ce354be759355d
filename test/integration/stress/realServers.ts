/** The programs of random edits as real servers. Each name says the offer or the failure. */
import path from 'node:path';
import { adminId } from '../../../src/core/catalogue/admin.js';
import { fixturePath } from '../../support/core/bundles.js';
import type { Stage } from '../../support/core/stage.js';
import {
  launchVariable,
  textOf,
  type EditVocabulary,
  type EntryModel,
  type FileModel,
} from '../../unit/stress/edits.js';

/**
 * `raw.mjs` knows the behaviour of these names, and `slow` takes its time. Other names echo their
 * arguments.
 */
const offers: Readonly<Record<string, readonly string[]>> = {
  p0: ['t0', 'slow'],
  p1: ['t0', 't1', 'x_t0'],
  p2: ['t1', 't2', 'quiet'],
  p3: ['x_t0', 'x_t1', 't0', 'slow'],
};

export const realVocabulary: EditVocabulary = {
  ids: ['a', 'b', 'c', 'd', 'e', 'f'],
  programs: [...Object.keys(offers), ...Object.keys(offers), 'missing', 'exits'],
  patterns: ['t*', '*0', 'x_*', 't1', '*', 'nothing*'],
  steps: [
    { prefix: 'p_' },
    { suffix: '_s' },
    { prefix: { remove: 'x_', add: '' } },
    { prefix: { remove: 't', add: 'u' } },
  ],
};

const programOf = (launch: string): string => launch.split('|')[0] ?? '';

/** @param launch in the form of the oracle */
export function offersOf(launch: string): readonly string[] {
  return offers[programOf(launch)] ?? [];
}

export function failureOf(launch: string): string | undefined {
  return { missing: 'command-not-found', exits: 'server-exited' }[programOf(launch)];
}

export function launchOf({ program, nonce }: EntryModel): {
  command: string;
  args: readonly string[];
} {
  if (program === 'missing') return { command: `no-such-command-${nonce}`, args: [] };
  const script =
    program === 'exits' ? ['exits'] : ['raw', '--tools', (offers[program] ?? []).join(',')];
  const [name = '', ...rest] = script;
  return {
    command: process.execPath,
    args: [path.normalize(fixturePath(name)), ...rest, '--nonce', String(nonce)],
  };
}

export function realText(file: FileModel, remark: string): string {
  return textOf(file, launchOf, remark).replaceAll(`"env": "${launchVariable}"`, '"env": "PATH"');
}

/** As in the oracle, the tools of a server are sorted: their order depends on its earlier lists. */
export function publishedOf({ host }: Stage): string[] {
  return host.catalogue.toolsets
    .filter(({ id }) => id !== adminId)
    .flatMap(({ id, tools }) => tools.map(({ published }) => `${id}/${published}`).sort());
}
