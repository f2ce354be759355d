/**
 * Keeps texts in a folder of the editor's storage, one file for each launch, `<folder>/<fingerprint>.json`. The folder need
 * not exist. Invariant: a file is whole or not there.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { makePrivateFile } from './privateFile.js';

const fileName = /^([0-9a-f]{64})\.json$/;

/** Returns the fingerprint in a file name, or undefined for other names. */
export function launchOfFile(name: string): string | undefined {
  return fileName.exec(name)?.[1];
}

export function fileOfLaunch(folder: string, launch: string): string {
  return path.join(folder, `${launch}.json`);
}

/** Replaces the file of a launch, or removes it without a text. Other names have no file. */
export async function putLaunchFile(folder: string, launch: string, text: string | undefined): Promise<void> {
  const file = fileOfLaunch(folder, launch);
  if (launchOfFile(path.basename(file)) !== launch) return;
  if (text === undefined) return await rm(file, { force: true });
  await makePrivateFile(file, text);
}
