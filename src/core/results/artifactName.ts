/**
 * An artifact is named `<timestamp>-<uuid>.<extension>` (V2). The UUID begins with digits for the conversation (RFC
 * 9562, version 8). So the names identify the files of a conversation, and no separate list can disagree with the
 * quota. Everything is pure.
 *
 * Invariants: a name has no text of a caller or a server, and only a part of a hash of the conversation; two files of a
 * conversation in one millisecond differ in 74 random bits.
 */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';

/**
 * Returns the folder of `<server>/<tool>/<name>`.
 * @param folder the workspace's storage
 */
export function artifactsRoot(folder: string): string {
  return join(folder, 'artifacts', 'mcp');
}

/**
 * @param now in milliseconds since the epoch
 * @param extension without a dot
 */
export function artifactName(now: number, conversation: string | undefined, extension: string): string {
  const stamp = new Date(now).toISOString().replaceAll(':', '-');
  const random = randomUUID();
  const uuid = conversation === undefined ? random : `${marksOf(conversation)}${random.slice(15)}`;
  return `${stamp}-${uuid}.${extension}`;
}

/** Returns the time of an artifact in milliseconds since the epoch, and NaN for a name of another kind. */
export function timeOfArtifact(name: string): number {
  return Date.parse(name.replace(/^([\d-]+T\d\d)-(\d\d)-([\d.]+Z)-.*$/s, '$1:$2:$3'));
}

/** Returns a test of file names, without their folders, for the artifacts of a conversation. */
export function isArtifactOf(conversation: string): (name: string) => boolean {
  const marks = marksOf(conversation);
  return (name) => /^[\dT.-]+Z-/.exec(name)?.[0].length === name.indexOf(marks) && !name.endsWith('.partial');
}

/** Returns the first two groups of the UUID, and its version. */
function marksOf(conversation: string): string {
  const hash = createHash('sha256').update(conversation).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8`;
}
