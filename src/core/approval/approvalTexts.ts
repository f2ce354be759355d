/** The texts that a person reads before they approve a start (S1). */
import { english, said, translated } from '../base/language.js';
import { columnsIn, folded, halfWidth, pageWidth } from '../base/folded.js';
import { inert, inertLines, oneLine, type Inert } from '../base/inert.js';
import type { LaunchDescription, LaunchPart } from './fingerprint.js';
import { shellWord } from '../base/paths.js';
import { commaList, shortList } from '../base/text.js';

/**
 * The width of the labels. It is the same in all documents, so that a comparison shows no other
 * difference.
 */
const widest = 'environment'.length;

export interface PendingLaunch {
  readonly launch: LaunchDescription;
  readonly before: LaunchDescription | undefined;
  readonly isServed?: boolean;
}

export type Review = { readonly now: string; readonly before: string | undefined };

export function commandLine({ parts }: LaunchDescription): string {
  const started = parts.filter(({ label }) => ['command', 'argument', 'address'].includes(label));
  return started.map(({ shown }) => shown).join(' ');
}

/** @param servers one id, or several with blanks between them */
export function approveCommand(servers: string, folder?: string): string {
  const place = folder === undefined ? '' : ` -C ${shellWord(folder)}`;
  return oneLine(`mcp-toolsets approve ${servers}${place}`);
}

export function launchLines({ parts }: LaunchDescription): string[] {
  return parts.map((part) =>
    [said`${translated(part.label)}: ${part.shown}`, ...maskNote(part, false)].join('   '),
  );
}

/** The whole digest distinguishes a masked value from every other one. */
function maskNote({ label, digest }: LaunchPart, isChanged: boolean): string[] {
  if (digest === undefined) return [];
  // The review names a file and shows nothing of it.
  const words = [
    ...(label === 'package' ? [] : [said`masked`]),
    ...(isChanged ? [said`changed`] : []),
  ];
  return [`(${commaList([...words, said`digest ${digest}`], said)})`];
}

/** The first `--token=•••` is compared with the first of the earlier launch, and so on. */
function changedValues(
  now: LaunchDescription,
  before: LaunchDescription | undefined,
): ReadonlySet<LaunchPart> {
  const left = before?.parts.filter(({ digest }) => digest !== undefined) ?? [];
  const changed = now.parts.filter(({ label, shown, digest }) => {
    const at = left.findIndex((other) => other.label === label && other.shown === shown);
    const [known] = at < 0 ? [] : left.splice(at, 1);
    return known !== undefined && known.digest !== digest;
  });
  return new Set(changed);
}

/** True if the two launches are the same except for the version behind the name of a package (C8). */
export function differsInVersion({ launch, before }: PendingLaunch): boolean {
  const known = before?.parts ?? [];
  const other = launch.parts.filter((part, index) => {
    const was = known[index];
    return was?.label !== part.label || was.shown !== part.shown || was.digest !== part.digest;
  });
  const [only, ...more] = other;
  if (!only || more.length > 0 || launch.parts.length !== known.length) return false;
  const was = known[launch.parts.indexOf(only)];
  const nameOf = (shown = ''): string =>
    shown.replace(/(?<=[^@=\s])(?:@|==)[\w.^~<>=*+!-]{1,100}$/, '');
  return only.label === 'argument' && nameOf(only.shown) === nameOf(was?.shown);
}

export function question(
  pending: readonly PendingLaunch[],
  fileLabel: (file: string) => string,
): Inert {
  const labels = new Set(pending.map(({ launch }) => fileLabel(launch.source)));
  const files = commaList([...labels], said);
  const servers = pending.map(({ launch }) => `“${launch.server}”`);
  const names = shortList(servers, 5, said);
  const changed = pending.filter(({ before }) => before).length;
  const [only, second] = pending;
  if (only && !second) {
    const sentence = startQuestion(only, names, files);
    return only.isServed
      ? inert`${sentence} Until you approve it, its previous definition serves.`
      : sentence;
  }
  const all = pending.length;
  if (changed === 0) return inert`${all} MCP servers of ${files} want to start: ${names}.`;
  return changed === all
    ? inert`${all} MCP servers of ${files} want to start and have changed since you approved them: ${names}.`
    : inert`${all} MCP servers of ${files} want to start, ${changed} of them changed since your approval: ${names}.`;
}

function startQuestion(only: PendingLaunch, server: string, file: string): Inert {
  if (!only.before) return inert`The MCP server ${server} of ${file} wants to start.`;
  return differsInVersion(only)
    ? inert`The MCP server ${server} of ${file} has changed only in the version of its package since you approved it, and wants to start.`
    : inert`The MCP server ${server} of ${file} has changed since you approved it, and wants to start.`;
}

/** The editor compares the document with the one for the last approved launches, line by line. */
export function reviewTexts(
  pending: readonly PendingLaunch[],
  fileLabel: (file: string) => string,
): Review {
  const isCompared = pending.some(({ before }) => before);
  return reviewOf(translated(head), pending, isCompared, ({ launch, before }, isNow, width) => {
    const shown = isNow ? launch : before;
    const changed = isNow ? changedValues(launch, before) : new Set();
    const lines = shown?.parts.flatMap((part) => [
      ...folded(part.shown, width, leadOf(part.label)),
      ...maskNote(part, changed.has(part)).flatMap((note) => folded(note, width, '    ')),
    ]);
    const title = `${launch.server}  ·  ${oneLine(fileLabel(launch.source))}`;
    return [...folded(title, width), '', ...(lines ?? []), ''];
  });
}

function leadOf(label: LaunchPart['label']): string {
  const shown = translated(label);
  return `  ${shown}${' '.repeat(Math.max(0, widest - columnsIn(shown)))}  `;
}

type Section<One> = (one: One, isNow: boolean, width: number) => readonly string[];

export function reviewOf<One>(
  head: string,
  all: readonly One[],
  isCompared: boolean,
  section: Section<One>,
): Review {
  const width = isCompared ? halfWidth : pageWidth;
  const document = (isNow: boolean) =>
    head + all.map((one) => section(one, isNow, width).join('\n')).join('\n');
  return { now: document(true), before: isCompared ? document(false) : undefined };
}

const head = english`These programs and addresses would
start, with all that they receive.
Invisible characters are escaped. A line
with … continues the line before it. A
secret value is masked; its digest tells
values apart. This review does not
show what the programs do.

`;

/**
 * Returns undefined for a long text, and if a part is gone or new, because only a comparison shows
 * that.
 */
export function dialogDetail({ launch, before = launch }: PendingLaunch): Inert | undefined {
  const labels = ({ parts }: LaunchDescription) => parts.map(({ label }) => label).join();
  if (labels(launch) !== labels(before)) return undefined;
  const known = launchLines(before);
  const marked = launchLines(launch).map((line, index) =>
    line === known[index] ? line : said`${line}   ← changed`,
  );
  return marked.length > 14 || marked.some((line) => line.length > 160)
    ? undefined
    : inertLines(marked.join('\n'));
}
