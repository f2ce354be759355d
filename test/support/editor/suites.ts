/**
 * The editor suites with their options, and their windows.
 *
 * `test/editor/suites/<name>.test.ts` runs inside the extension host, in a copy of
 * `test/editor/workspaces/<name>/`. `test/editor/suites/<name>.options.json` has its options.
 * `test/editor/outside/<name>.test.ts` runs in plain Node and starts its editors itself.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../npm.mjs';
import type { OwnExtensions } from './extensions.ts';

export const editorTests = join(repoRoot, 'test/editor');

export interface SuiteOptions extends OwnExtensions {
  /** `false`: the folder opens in Restricted Mode. Default `true`. */
  trust?: boolean;
  /** User settings. */
  settings?: Record<string, unknown>;
  /** Folders of `test/editor/helpers` to install beside the product. */
  helpers?: string[];
  /**
   * The folder of `test/editor/workspaces` to copy. Default: the suite's name; without such a
   * folder, an empty one.
   */
  workspace?: string;
  /** A `.code-workspace` file in that folder to open instead of the folder. */
  workspaceFile?: string;
  /**
   * Environment variables of the editor. `${workspace}` is the path of the copied workspace folder.
   */
  env?: Record<string, string>;
  /** Files to write into the editor's home folder before it starts: path → text. */
  homeFiles?: Record<string, string>;
  /**
   * The whole suite is about the page. On the desktop it is skipped and counts as one skipped test.
   */
  needsPage?: boolean;
  /** `false` runs without the product. Default `true`. */
  product?: boolean;
  /** The suite needs a fresh window, so it does not get the window of another suite. */
  ownWindow?: boolean;
}

export interface Suite {
  name: string;
  file: string;
  workspace: string | undefined;
  options: SuiteOptions;
}

const knownOptions: Record<keyof SuiteOptions, true> = {
  trust: true,
  settings: true,
  helpers: true,
  allExtensions: true,
  agentMode: true,
  workspace: true,
  workspaceFile: true,
  env: true,
  homeFiles: true,
  needsPage: true,
  product: true,
  ownWindow: true,
};

/** What can be another in a window that is open, or is not about the window. */
const changeable: readonly (keyof SuiteOptions)[] = ['settings', 'workspace', 'needsPage'];

export function insideSuites(): Suite[] {
  return testFiles('suites').map(({ name, file }) => {
    const options = readOptions(join(editorTests, 'suites', `${name}.options.json`));
    const workspace = join(editorTests, 'workspaces', options.workspace ?? name);
    if (options.workspace && !existsSync(workspace))
      throw new Error(`${name}: no workspace ${options.workspace}`);
    return { name, file, workspace: existsSync(workspace) ? workspace : undefined, options };
  });
}

/**
 * Suites that run one after another in the same window, because opening a window takes longer than
 * most suites. Their options differ only in changeable ones.
 */
export function byWindow(suites: readonly Suite[]): Suite[][] {
  const windows = new Map<string, Suite[]>();
  for (const suite of suites) {
    const fixed = Object.entries(suite.options).filter(
      ([key]) => !changeable.includes(key as keyof SuiteOptions),
    );
    const alone = suite.options.ownWindow === true || suite.options.workspaceFile !== undefined;
    const key = JSON.stringify([alone && suite.name, Object.fromEntries(fixed.sort())]);
    windows.set(key, [...(windows.get(key) ?? []), suite]);
  }
  return [...windows.values()];
}

export function outsideSuites(): Pick<Suite, 'name' | 'file' | 'options'>[] {
  return testFiles('outside').map(({ name, file }) => {
    return {
      name,
      file,
      options: readOptions(join(editorTests, 'outside', `${name}.options.json`)),
    };
  });
}

function testFiles(folder: string): { name: string; file: string }[] {
  const path = join(editorTests, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((file) => file.endsWith('.test.ts'))
    .sort()
    .map((file) => ({ name: file.slice(0, -'.test.ts'.length), file: join(path, file) }));
}

function readOptions(file: string): SuiteOptions {
  if (!existsSync(file)) return {};
  const options = JSON.parse(readFileSync(file, 'utf8')) as SuiteOptions;
  const unknown = Object.keys(options).filter((key) => !(key in knownOptions));
  if (unknown.length > 0) throw new Error(`${file}: unknown options ${unknown.join(', ')}`);
  return options;
}
