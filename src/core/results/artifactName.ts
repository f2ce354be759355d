/**
 * The names of artifacts (V2): `<timestamp>-<uuid>.<extension>`. Where a dialog's call made the file, the UUID begins
 * with digits that stand for the dialog (RFC 9562, version 8), so that the files of a dialog are found by their names
 * alone: no list beside them can disagree with what the quota left. Pure.
 *
 * Invariants: a name holds nothing that a caller or a server said, of the dialog only a part of a hash; at one millisecond,
 * two files of a dialog differ by 74 random bits.
 */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';

/** Holds `<server>/<tool>/<name>`. @param folder the workspace's storage */
export function artifactsRoot(folder: string): string {
  return join(folder, 'artifacts', 'mcp');
}

/** @param now in milliseconds since 1970 @param extension without a dot */
export function artifactName(now: number, dialog: string | undefined, extension: string): string {
  const stamp = new Date(now).toISOString().replaceAll(':', '-');
  const random = randomUUID();
  const uuid = dialog === undefined ? random : `${marksOf(dialog)}${random.slice(15)}`;
  return `${stamp}-${uuid}.${extension}`;
}

/** When it was made, in milliseconds since 1970; NaN for a name that is none of these. */
export function timeOfArtifact(name: string): number {
  return Date.parse(name.replace(/^([\d-]+T\d\d)-(\d\d)-([\d.]+Z)-.*$/s, '$1:$2:$3'));
}

/** Of a name without a folder. */
export function isArtifactOf(dialog: string): (name: string) => boolean {
  const marks = marksOf(dialog);
  return (name) => /^[\dT.-]+Z-/.exec(name)?.[0].length === name.indexOf(marks) && !name.endsWith('.partial');
}

/** The first two groups and the version. */
function marksOf(dialog: string): string {
  const hash = createHash('sha256').update(dialog).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8`;
}
