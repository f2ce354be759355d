/**
 * What a person lets tools be called for on the command line and by `serve` (S4): their own file
 * `~/.minds/permissions.json`, of the form that the editor's setting has, and options, which count for the same pattern
 * before it. Where a call is to be asked about, the terminal asks; where there is none, the answer is no.
 */
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { largestConfigFile, readTextFileSync } from '../core/base/textFile.js';
import type { CallAnswer, CallQuestion } from '../core/host/permission.js';
import { toolPermissions, type ToolPermission } from '../core/tools/permissions.js';
import { readObject } from './jsonObject.js';

export type PermissionRules = Readonly<Record<string, unknown>>;

/** The patterns that options name. */
type PermissionOptions = Readonly<Partial<Record<ToolPermission, readonly string[] | undefined>>>;

/** Returns the rules, or a sentence that says why the file cannot be read: nothing may be called then. */
export function readPermissions(home: string, options: PermissionOptions): PermissionRules | string {
  const file = path.join(home, '.minds', 'permissions.json');
  let text: string | undefined;
  try {
    text = readTextFileSync(file, largestConfigFile).replace(/^\uFEFF/, '');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') return `${file} cannot be read: ${message}`;
  }
  const own = text === undefined ? {} : readObject(`The permissions in ${file}`, text);
  if (typeof own === 'string') return own;
  const given = toolPermissions.flatMap((permission) =>
    (options[permission] ?? []).map((pattern) => [pattern, permission]),
  );
  return { ...own, ...(Object.fromEntries(given) as PermissionRules) };
}

/** Asks on the terminal. What a server or an agent says is written so that it cannot act on the terminal. */
export async function askOnTerminal({ toolset, tool, arguments: given }: CallQuestion): Promise<CallAnswer> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return 'no';
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    const shown = plain(JSON.stringify(given ?? {}));
    const question = `Call "${plain(tool)}" of "${plain(toolset)}" with ${shown}? [y]es, [c]onversation, [N]o: `;
    const answer = (await lines.question(question)).trim().toLowerCase();
    return /^y(es)?$/.test(answer) ? 'once' : /^c(onversation)?$/.test(answer) ? 'inConversation' : 'no';
  } finally {
    lines.close();
  }
}

const longestShown = 2_000;

function plain(text: string): string {
  const short = text.length > longestShown ? `${text.slice(0, longestShown)}… (${text.length} characters)` : text;
  return short.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
