/**
 * Finds the files of the workspace that decide what a launcher runs (S1o): settings and local
 * packages in the folder of a launch and above it, up to the root of the repository. A pull can
 * bring them, so a person approves them with the launch. Files outside the workspace are the
 * person's. A local package counts by its path and its `package.json`, because the rest of it is
 * code of the workspace, as with programs (S1n).
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { asFields } from '../base/isObject.js';
import { foldersUp, leadsDown, realPath } from '../base/paths.js';
import { anyBytes, FileRefused, largestConfigFile, readTextFileSync } from '../base/textFile.js';
import { unlessThrown } from '../base/unlessThrown.js';
import type { DecidingFile, StdioLaunch } from '../config/model.js';
import { launchesIn, type Launched } from './package.js';

/** What a file says; undefined if there is none. */
type ReadFile = (file: string) => string | undefined;

/** @param roots the real folders of the workspace and its repositories */
export function decidingFiles(
  roots: readonly string[],
  launch: StdioLaunch,
  read: ReadFile = contentOf,
): readonly DecidingFile[] {
  const launches = roots.length === 0 ? [] : launchesIn(launch);
  const found = launches.flatMap((launched) => filesOf(launched, roots, launch.cwd, read));
  const keyOf = ({ kind, file }: DecidingFile): string => `${kind} ${file}`;
  return [...new Map(found.map((one) => [keyOf(one), one])).values()];
}

function filesOf(
  launched: Launched,
  roots: readonly string[],
  cwd: string,
  read: ReadFile,
): readonly DecidingFile[] {
  const { launcher, changedTo } = launched;
  const isInside = (file: string): boolean => roots.some((root) => leadsDown(root, file));
  const starts = ['.', ...changedTo].map((folder) => path.resolve(cwd, folder));
  const named = starts.flatMap((start) =>
    launched.files.map((file) => realPath(path.resolve(start, file))),
  );
  const begins = starts.flatMap((start) =>
    ['.', ...launched.folders].map((folder) => realPath(path.resolve(start, folder))),
  );
  const folders = new Set(begins.flatMap(foldersUp).filter(isInside));
  return [
    ...named.filter(isInside).flatMap((file) => settings(file, read)),
    ...[...folders].flatMap((folder) => [
      ...launcher.files.flatMap((name) => settings(path.join(folder, name), read)),
      ...manifest(path.join(folder, 'package.json'), launched, read),
      ...(launcher.isLocalFirst ? localPackage(folder, launched, read) : []),
    ]),
  ];
}

/** Remembers what it read, because most servers share a folder. */
export function decidingFinder(
  roots: readonly string[],
): (launch: StdioLaunch) => readonly DecidingFile[] {
  const known = new Map<string, string | undefined>();
  const read: ReadFile = (file) => {
    if (!known.has(file)) known.set(file, contentOf(file));
    return known.get(file);
  };
  return (launch) => decidingFiles(roots, launch, read);
}

/** An unreadable file has the reason for its content, because it may be readable at the start. */
function contentOf(file: string): string | undefined {
  try {
    return readTextFileSync(file, largestConfigFile, anyBytes);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) return undefined;
    return `\0${error instanceof FileRefused ? error.reason : code}`;
  }
}

function fileOf(kind: DecidingFile['kind'], file: string, content: string): DecidingFile[] {
  return [{ kind, file, digest: createHash('sha256').update(content).digest('hex') }];
}

function settings(file: string, read: ReadFile): DecidingFile[] {
  const text = read(file);
  if (text === undefined) return [];
  if (path.basename(file) !== 'pyproject.toml') return fileOf('registry', file, text);
  // The rest of the file is about the project. A table may go on behind any line.
  const from = text.search(/^[ \t[]*["']?tool["']?[ \t]*(?:\.[ \t]*["']?uv\b|[\]=])/m);
  return from < 0 && !text.startsWith('\0') ? [] : fileOf('registry', file, text.slice(from));
}

/** npm runs a program of the project itself if its name is the first word. */
function manifest(
  file: string,
  { launcher, package: named, programs }: Launched,
  read: ReadFile,
): DecidingFile[] {
  const text = launcher.manifestKeys.length > 0 ? read(file) : undefined;
  if (text === undefined) return [];
  const parsed = unlessThrown<unknown>(() => JSON.parse(text));
  // Its launcher may read more than JSON.
  if (parsed === undefined) return fileOf('registry', file, text);
  const fields = asFields(parsed);
  const { name, version, bin } = fields;
  const decides = launcher.manifestKeys.filter((key) => fields[key] !== undefined);
  const own =
    launcher.isLocalFirst &&
    ((named !== undefined && name === named.name) ||
      programs.some((program) => Object.hasOwn(asFields(bin), program)));
  const chosen = decides.map((key) => [key, fields[key]]);
  return [
    ...(chosen.length > 0 ? fileOf('registry', file, JSON.stringify(chosen)) : []),
    ...(own ? fileOf('local package', file, JSON.stringify([name, version, bin])) : []),
  ];
}

/** npm takes a program of `node_modules/.bin` whose name is the whole first word, `@1.2.3` too. */
function localPackage(
  folder: string,
  { package: named, programs }: Launched,
  read: ReadFile,
): DecidingFile[] {
  const modules = path.join(folder, 'node_modules');
  // Relative, because it is the same in each worktree.
  const linked = (place: string): string => path.relative(folder, realPath(place));
  const names = named ? [named.name] : [];
  const bins = [...programs, ...names.map((name) => name.replace(/^.*\//, ''))].filter(
    (name) => name !== '' && leadsDown(modules, path.join(modules, name)),
  );
  return [
    ...names.flatMap((name) => {
      const place = path.join(modules, name);
      const text = read(path.join(place, 'package.json'));
      return text === undefined ? [] : fileOf('local package', place, `${linked(place)}\n${text}`);
    }),
    ...[...new Set(bins)].flatMap((name) => {
      const place = path.join(modules, '.bin', name);
      return read(place) === undefined ? [] : fileOf('local package', place, linked(place));
    }),
  ];
}
