/** Writes what a person reads before they approve a start (S1). It is pure and does not import `vscode`. */
import { inert, inertLines, type Inert } from '../base/inert.js';
import type { LaunchDescription, LaunchPart } from './fingerprint.js';
import { shortList } from '../base/shortList.js';

/** The width of the labels. It is the same in all documents, so that a comparison shows no other difference. */
const widest = 'environment'.length;

export interface PendingLaunch {
  readonly launch: LaunchDescription;
  /** The launch of this server that was approved before. */
  readonly before: LaunchDescription | undefined;
}

/** Returns `node server.js --port 1` or the address: what runs, without its environment. */
export function commandLine({ parts }: LaunchDescription): string {
  return parts
    .filter(({ label }) => label === 'command' || label === 'argument' || label === 'address')
    .map(({ shown }) => shown)
    .join(' ');
}

/** Returns the whole launch, one part on each line. */
export function launchLines({ parts }: LaunchDescription): string[] {
  return parts.map((part) => `${part.label}: ${valueOf(part)}`);
}

/** Adds a digest to a masked value, so that it can be told from another one. */
function valueOf({ shown, digest }: LaunchPart): string {
  return digest === undefined ? shown : `${shown}   (masked, digest ${digest.slice(0, 8)})`;
}

/** Continues a long value on further lines, so that none of it is beyond the edge of the window. */
function folded(label: string, value: string): string[] {
  const lines = value.match(/.{1,100}/gu) ?? [''];
  return lines.map((line, index) => (index === 0 ? label : `${' '.repeat(label.length - 2)}… `) + line);
}

/** @param fileLabel Returns a file in the form that is shown to a person. */
export function question(pending: readonly PendingLaunch[], fileLabel: (file: string) => string): Inert {
  const files = [...new Set(pending.map(({ launch }) => fileLabel(launch.source)))].join(', ');
  const names = shortList(
    pending.map(({ launch }) => `“${launch.server}”`),
    5,
  );
  const [only] = pending;
  if (pending.length === 1 && only) {
    return only.before
      ? inert`What the MCP server ${names} of ${files} starts has changed. Its previous definition serves until you approve the new one.`
      : inert`The MCP server ${names} of ${files} wants to start.`;
  }
  const changed = pending.filter(({ before }) => before).length;
  const what =
    changed === 0
      ? ''
      : changed === pending.length
        ? ' and have changed since you approved them'
        : `, ${changed} of them changed since your approval`;
  return inert`${pending.length} MCP servers of ${files} want to start${what}: ${names}.`;
}

/** Returns the document of a review and what was approved of the same servers before. The two are compared line by line. */
export function reviewTexts(
  pending: readonly PendingLaunch[],
  fileLabel: (file: string) => string,
): { readonly now: string; readonly before: string | undefined } {
  const section = (heading: LaunchDescription, launch: LaunchDescription | undefined): string =>
    [
      `${heading.server}  ·  ${fileLabel(heading.source)}`,
      '',
      ...(launch?.parts.flatMap((part) => folded(`  ${part.label.padEnd(widest)}  `, valueOf(part))) ?? []),
      '',
    ].join('\n');
  const head = [
    'What would run, and what it would be given. Characters that do not show',
    'are escaped. Values that may be secret are masked: a different digest',
    'is a different value. What the programs do is not shown here.',
    '',
    '',
  ].join('\n');
  return {
    now: head + pending.map(({ launch }) => section(launch, launch)).join('\n'),
    before: pending.some(({ before }) => before)
      ? head + pending.map(({ launch, before }) => section(launch, before)).join('\n')
      : undefined,
  };
}

/**
 * Returns the detail of a dialog, or undefined if it needs a document: it is too much for a dialog, or a part is gone or new,
 * which only a comparison shows.
 */
export function dialogDetail({ launch, before = launch }: PendingLaunch): Inert | undefined {
  const labels = ({ parts }: LaunchDescription): string => parts.map(({ label }) => label).join();
  if (labels(launch) !== labels(before)) return undefined;
  const known = launchLines(before);
  const marked = launchLines(launch).map((line, index) => (line === known[index] ? line : `${line}   ← changed`));
  return marked.length > 14 || marked.some((line) => line.length > 160) ? undefined : inertLines(marked.join('\n'));
}
