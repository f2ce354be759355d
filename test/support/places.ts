/** Places and paths of tests. */
import type { Place } from '../../src/core/base/problem.js';
import type { ServerPlaces } from '../../src/core/config/model.js';

/** A path of Windows in its POSIX form, so that expectations are written once. */
export function posixPath(file: string): string {
  return process.platform === 'win32'
    ? file.replace(/^(`?)[a-z]:/i, '$1').replaceAll('\\', '/')
    : file;
}

/**
 * Places for definitions without a parsed file. Each path gets a separate range, so that tests can
 * distinguish them.
 */
export function fakePlaces(server: string): ServerPlaces {
  const at = (path: readonly (string | number)[]): Place => ({
    file: `/ws/${[server, ...path].join('/')}`,
    range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } },
  });
  return { key: at([]), value: at, keyAt: (path) => at([...path, 'key']) };
}
