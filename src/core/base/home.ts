/**
 * The home folder of the person. Only this module asks the system for it; a test refuses another
 * call.
 */
import { devNull, homedir as systemHome } from 'node:os';
import path from 'node:path';
import { unlessThrown } from './unlessThrown.js';

/** Below a device, no file can be read or written. Errors show this path, so the name says why. */
const noHome = path.join(devNull, 'HOME names no folder');

/**
 * Returns an absolute path. An empty or a relative `HOME` would mean the working directory, so it
 * is no home.
 */
export function homedir(): string {
  const home = unlessThrown(systemHome) ?? '';
  return path.isAbsolute(home) ? home : noHome;
}

export function hasHome(): boolean {
  return homedir() !== noHome;
}
