/**
 * Finds the files of the workspace that decide what a launcher runs (S1o): settings and local
 * packages in the folder of a launch and above it, up to the root of the repository. A pull can
 * bring them, so a person approves them with the launch. Files outside the workspace are the
 * person's. A local package counts by its path and its `package.json`, because the rest of it is
 * code of the workspace, as with programs (S1n).
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { withoutMark } from '../base/byteOrderMark.js';
import { asFields, isObject, isTexts, type Fields } from '../base/isObject.js';
import { foldersUp, leadsDown, realPath } from '../base/paths.js';
import { anyBytes, FileRefused, largestConfigFile, readTextFileSync } from '../base/textFile.js';
import { unlessThrown } from '../base/unlessThrown.js';
import type { DecidingFile, StdioLaunch } from '../config/model.js';
import { launchesIn, type Launched } from './package.js';

/** What is on the disk. */
interface Disk {
  /** The content of a file; undefined if there is none. */
  readonly read: (file: string) => string | undefined;
  /** The folders of all packages that npm finds from a folder; undefined if they are too many. */
  readonly packagesIn: (folder: string) => readonly string[] | undefined;
}

/** @param roots the real folders of the workspace and its repositories */
export function decidingFiles(
  roots: readonly string[],
  launch: StdioLaunch,
  disk: Disk = { read: contentOf, packagesIn },
): readonly DecidingFile[] {
  const launches = roots.length === 0 ? [] : launchesIn(launch);
  const found = launches.flatMap((launched) => filesOf(launched, roots, launch.cwd, disk));
  const keyOf = ({ kind, file }: DecidingFile): string => `${kind} ${file}`;
  return [...new Map(found.map((one) => [keyOf(one), one])).values()];
}

function filesOf(
  launched: Launched,
  roots: readonly string[],
  cwd: string,
  disk: Disk,
): readonly DecidingFile[] {
  const { launcher, changedTo } = launched;
  const { read } = disk;
  const isInside = (file: string): boolean => roots.some((root) => leadsDown(root, file));
  const starts = ['.', ...changedTo].map((folder) => path.resolve(cwd, folder));
  const named = starts.flatMap((start) =>
    launched.files.map((file) => realPath(path.resolve(start, file))),
  );
  const begins = starts.flatMap((start) =>
    ['.', ...launched.folders].map((folder) => realPath(path.resolve(start, folder))),
  );
  const ofPython = launcher.readsModules ? begins.filter(isInside) : [];
  const folders = new Set(begins.flatMap(foldersUp).filter(isInside));
  return [
    ...named.filter(isInside).flatMap((file) => settings(file, read)),
    ...ofPython.flatMap(pythonModules),
    ...[...folders].flatMap((folder) => [
      ...launcher.files.flatMap((name) => settings(path.join(folder, name), read)),
      ...manifest(path.join(folder, 'package.json'), launched, read),
      ...localPrograms(folder, launched, read),
      ...(launcher.isLocalFirst ? localPackages(folder, launched, disk) : []),
    ]),
  ];
}

/** Remembers what it read, because most servers share a folder. */
export function decidingFinder(
  roots: readonly string[],
): (launch: StdioLaunch) => readonly DecidingFile[] {
  const disk = { read: remembered(contentOf), packagesIn: remembered(packagesIn) };
  return (launch) => decidingFiles(roots, launch, disk);
}

function remembered<T>(look: (file: string) => T): (file: string) => T {
  const known = new Map<string, T>();
  return (file) => {
    const found = known.has(file) ? (known.get(file) as T) : look(file);
    known.set(file, found);
    return found;
  };
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

function settings(file: string, read: Disk['read']): DecidingFile[] {
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
  { launcher, names, programs }: Launched,
  read: Disk['read'],
): DecidingFile[] {
  const text = launcher.manifestKeys.length > 0 ? read(file) : undefined;
  if (text === undefined) return [];
  const fields = fieldsIn(text);
  // Its launcher may read more than JSON.
  if (fields === undefined) return fileOf('registry', file, text);
  const { name, version, bin, directories } = fields;
  const decides = launcher.manifestKeys.filter((key) => fields[key] !== undefined);
  // npm takes the last part of each name in `bin`, and the files of `directories.bin`.
  const bins = typeof bin === 'string' ? [name] : Object.entries(bin ?? {}).flat();
  const hasProgram = bins.some((one) => {
    const last = String(one).replace(/^.*[/\\:]/s, '');
    return programs.includes(last);
  });
  const isMeant =
    names.some((one) => one === name) || hasProgram || asFields(directories)['bin'] !== undefined;
  const chosen = decides.map((key) => [key, fields[key]]);
  const said = [name, version, bin, directories];
  return [
    ...(chosen.length > 0 ? fileOf('registry', file, JSON.stringify(chosen)) : []),
    ...(launcher.isLocalFirst && isMeant
      ? fileOf('local package', file, JSON.stringify(said))
      : []),
  ];
}

function fieldsIn(text: string): Fields | undefined {
  const parsed = unlessThrown(() => JSON.parse(withoutMark(text)) as unknown);
  return parsed === undefined ? undefined : asFields(parsed);
}

function localFile(folder: string, place: string, text = ''): DecidingFile[] {
  // Relative, because it is the same in each worktree.
  return fileOf('local package', place, `${path.relative(folder, realPath(place))}\n${text}`);
}

/** npm takes a program whose name is the whole first word, `@1.2.3` too. */
function localPrograms(
  folder: string,
  { launcher, programs }: Launched,
  read: Disk['read'],
): DecidingFile[] {
  const names = launcher.localPrograms.flatMap((name) => {
    if (!name.includes('{program}')) return [name];
    return programs.map((program) => name.replace('{program}', () => program));
  });
  return names.flatMap((name) => {
    const place = path.join(folder, name);
    if (!leadsDown(folder, place) || read(place) === undefined) return [];
    return localFile(folder, place);
  });
}

/** `python -m pip` looks for each module in its folder first. The names count, as with programs. */
function pythonModules(folder: string): DecidingFile[] {
  const isModule = (name: string): boolean => {
    if (/\.(?:py[cd]?|so)$/.test(name)) return true;
    const inner = namesIn(path.join(folder, name));
    return inner.some((one) => one.startsWith('__init__.'));
  };
  const names = namesIn(folder).filter(isModule);
  return names.length > 0 ? fileOf('local package', folder, names.sort().join('\n')) : [];
}

function namesIn(folder: string): string[] {
  return unlessThrown(() => readdirSync(folder)) ?? [];
}

/** The name in its `package.json` counts, in whatever folder it is, or the name in npm's record. */
function localPackages(
  folder: string,
  { names }: Launched,
  { read, packagesIn: find }: Disk,
): DecidingFile[] {
  const modules = path.join(folder, 'node_modules');
  const places = names.length > 0 ? find(folder) : [];
  if (places === undefined) return localFile(folder, modules);
  // A name may be escaped.
  const signs = [...names, '\\'];
  const mayName = (text: string): boolean => signs.some((sign) => text.includes(sign));
  const found = places.flatMap((place) => {
    const text = read(path.join(place, 'package.json')) ?? '';
    if (!mayName(text)) return [];
    const fields = fieldsIn(text);
    const isMeant = fields === undefined || names.some((name) => name === fields['name']);
    return isMeant ? localFile(folder, place, text) : [];
  });
  // A package on the disk replaces its record.
  return [...recorded(folder, names, read), ...found];
}

/** npm believes its record of a folder, also if a `package.json` says another name. */
function recorded(folder: string, names: readonly string[], read: Disk['read']): DecidingFile[] {
  const record = path.join(folder, 'node_modules/.package-lock.json');
  const text = names.length > 0 ? read(record) : undefined;
  if (text === undefined) return [];
  const fields = fieldsIn(text);
  if (fields === undefined) return localFile(folder, record, text);
  return Object.entries(asFields(fields['packages'])).flatMap(([at, entry]) => {
    const { name = at.replace(/^.*node_modules\//, ''), ...rest } = asFields(entry);
    if (names.every((one) => one !== name)) return [];
    const place = path.join(folder, at);
    return localFile(folder, place, JSON.stringify(rest));
  });
}

/** To read this many takes less than 50 ms (P10). */
const mostFolders = 1000;

/** npm reads packages in packages, packages beside linked ones, and workspaces that are not linked. */
function packagesIn(folder: string): readonly string[] | undefined {
  let left = mostFolders;
  const look = (at: string): readonly string[] => {
    const entries = left-- > 0 ? unlessThrown(() => readdirSync(at, { withFileTypes: true })) : [];
    return (entries ?? []).filter((one) => !one.isFile()).map(({ name }) => name);
  };
  const places = workspaces(folder, look);
  const folders = new Set([folder, ...places]);
  for (const one of folders) {
    const modules = path.join(one, 'node_modules');
    const names = look(modules).flatMap((name) => {
      if (!name.startsWith('@')) return [name];
      const scoped = look(path.join(modules, name));
      return scoped.map((own) => path.join(name, own));
    });
    if (left < 0 || places.length + names.length > mostFolders) return undefined;
    for (const name of names.filter((each) => !each.startsWith('.'))) {
      const place = path.join(modules, name);
      const real = realPath(place);
      places.push(place);
      const beside = real === place ? [place] : foldersUp(real);
      for (const up of beside) {
        if (leadsDown(folder, up)) folders.add(up);
      }
    }
  }
  return places;
}

function workspaces(folder: string, look: (at: string) => readonly string[]): string[] {
  const text = contentOf(path.join(folder, 'package.json')) ?? '';
  const given = fieldsIn(text)?.['workspaces'];
  const patterns = isObject(given) ? given['packages'] : given;
  const inside = (at: string): string[] =>
    look(at)
      .filter((name) => !/^(?:\.|node_modules$)/.test(name))
      .map((name) => path.join(at, name));
  const below = (at: string): string[] => [at, ...inside(at).flatMap(below)];
  const next = (at: string, part: string): string[] => {
    if (part === '**') return below(at);
    if (/[^\w.@ -]/.test(part)) return inside(at);
    return [path.join(at, part)];
  };
  if (!isTexts(patterns)) return [];
  return patterns.flatMap((pattern) => {
    let found = [folder];
    for (const part of pattern.split('/')) {
      found = found.flatMap((at) => next(at, part));
    }
    return found;
  });
}
