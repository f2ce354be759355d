/**
 * Reads the package or the image that a launch names, and how exactly (C8). Without the network and
 * without the disk. If a word could be read in two ways, the answer is undefined.
 */
import { programName, startedWords, type StartedWord } from '../base/startedWords.js';
import type { Launch, NamedPackage, StdioLaunch } from '../config/model.js';
import { changedFolders, wordLists } from './changedFolders.js';
import { launchers, leading, type Launcher } from './launchers.js';

export type { NamedPackage } from '../config/model.js';

/** A package as the status shows it, with what runs and what the server reported about itself. */
export interface RunningPackage extends Omit<NamedPackage, 'argument'> {
  readonly runs?: string;
  /** npm's integrity of the running version. */
  readonly integrity?: string;
  readonly reported?: string;
}

/** The launcher of a launch. Its package is undefined if the arguments could not be read. */
export interface Launched {
  readonly launcher: Launcher;
  readonly package: NamedPackage | undefined;
  /** The folders to which the words in front of the launcher change. */
  readonly changedTo: readonly string[];
  /** The values of options that name another folder. */
  readonly folders: readonly string[];
  /** The values of options that name a file with settings. */
  readonly files: readonly string[];
  /** The words that may name a program. */
  readonly programs: readonly string[];
  /** The names of packages in the words that may name one. */
  readonly names: readonly string[];
}

export function packageOf(launch: Launch): NamedPackage | undefined {
  return launch.transport === 'stdio' ? launchedBy(launch)?.package : undefined;
}

/** A reference of a launch. No text of a file can be equal to it. */
const unknown = '\0';

function wordsOf({ command, args }: StdioLaunch): readonly string[] {
  return [command, ...args.map((arg) => (arg.kind === 'literal' ? arg.value : unknown))];
}

export function launchedBy(launch: StdioLaunch): Launched | undefined {
  const given = wordsOf(launch);
  const [program, ...rest] = startedWords(given);
  const [launched] = program ? launchedWith(program.text, rest) : [];
  const isFirst = program?.from === 0 && program.text === given[0];
  return launched && !isFirst ? behindOthers(launched, wordLists(given)) : launched;
}

/** @param words those behind the program */
function launchedWith(program: string, words: readonly StartedWord[]): readonly Launched[] {
  const name = programName(program);
  return launchers
    .filter(({ spelt }) => spelt[0] === name)
    .flatMap((launcher) => {
      const behind = behindWords(words, launcher);
      return behind ? [readArguments(launcher, behind)] : [];
    });
}

const mostMentioned = 16;
/** A launcher has few words in front of its package. */
const mostRead = 64;

/**
 * A program that the table does not know may start a launcher, such as a proxy or a script with a
 * pipe. The files of each launcher in its words count, and nothing is said of a package.
 */
export function launchesIn(launch: StdioLaunch): readonly Launched[] {
  const read = launchedBy(launch);
  if (read) return [read];
  const lists = wordLists(wordsOf(launch));
  const mentioned = lists.flatMap((words) =>
    words.flatMap((word, at) => (startsLauncher(word) ? [{ word, words, at }] : [])),
  );
  return mentioned.slice(0, mostMentioned).flatMap(({ word, words, at }) => {
    const rest = words.slice(at + 1, at + mostRead).map((text, from) => ({ text, from }));
    return launchedWith(word, rest).map((launched) => behindOthers(launched, lists));
  });
}

function startsLauncher(word: string): boolean {
  return word.length < 4096 && launcherNames.has(programName(word));
}

const launcherNames = new Set(launchers.map(({ spelt }) => spelt[0] ?? ''));

/** In a folder that is not known, a local package may run. */
function behindOthers(launched: Launched, lists: readonly (readonly string[])[]): Launched {
  const { folders, areAll } = changedFolders(lists, startsLauncher);
  return {
    ...launched,
    changedTo: folders,
    package: areAll ? launched.package : undefined,
  };
}

/** Returns the words behind those of the launcher, with the options between them in front. */
function behindWords(
  words: readonly StartedWord[],
  { spelt, flags, valued }: Launcher,
): readonly StartedWord[] | undefined {
  const ofProgram = leading[spelt[0] ?? ''];
  const options: StartedWord[] = [];
  let at = 0;
  for (const wanted of spelt.slice(1)) {
    for (let word = words[at]; word?.text.startsWith('-'); word = words[at]) {
      const isValued = ofProgram ? ofProgram.valued.includes(word.text) : valued.has(word.text);
      const isFlag = ofProgram ? ofProgram.flags.includes(word.text) : flags.has(word.text);
      if (!isValued && !isFlag && !word.text.includes('=')) return undefined;
      const end = at + (isValued ? 2 : 1);
      for (const option of ofProgram ? [] : words.slice(at, end)) options.push(option);
      at = end;
    }
    if (words[at]?.text !== wanted) return undefined;
    at++;
  }
  return [...options, ...words.slice(at)];
}

interface Options {
  readonly named: readonly StartedWord[];
  readonly folders: readonly string[];
  readonly files: readonly string[];
  /** The words behind the options; undefined behind an option that is not in the table. */
  readonly rest: readonly StartedWord[] | undefined;
}

function readArguments(launcher: Launcher, words: readonly StartedWord[]): Launched {
  const { named, folders, files, rest } = optionsIn(launcher, words);
  // Each word behind an option that is not in the table may be the program and the package.
  const first = rest?.slice(0, 1) ?? words.slice(0, mostRead);
  const asked = rest !== undefined && named.length > 0 ? named : first;
  const read = specs[launcher.names];
  const [only, ...others] = asked;
  const spec = rest && only && others.length === 0 ? read(only.text) : undefined;
  // The command is no argument.
  const isArgument = only !== undefined && only.from > 0;
  return {
    launcher,
    package:
      spec && isArgument
        ? { launcher: launcher.name, ...spec, argument: only.from - 1 }
        : undefined,
    changedTo: [],
    folders,
    files,
    programs: first.map(({ text }) => text).filter((text) => !/^(?:-|$|\0)/.test(text)),
    names: asked.flatMap(({ text }) => read(text)?.name ?? []),
  };
}

function optionsIn(launcher: Launcher, words: readonly StartedWord[]): Options {
  const named: StartedWord[] = [];
  const folders: string[] = [];
  const files: string[] = [];
  let at = 0;
  for (;;) {
    const word = words[at];
    const before = { named, folders, files };
    if (word?.text === '--') return { ...before, rest: words.slice(at + 1) };
    if (word?.text === unknown) return { ...before, rest: undefined };
    if (!word?.text.startsWith('-')) return { ...before, rest: words.slice(at) };
    const read = optionIn(launcher, word.text);
    if (!read) return { ...before, rest: undefined };
    const { name, value, takesNext } = read;
    const next = takesNext ? words[at + 1] : { ...word, text: value ?? '' };
    if (next && launcher.naming.has(name)) named.push(next);
    if (next && launcher.folders.has(name)) folders.push(next.text);
    if (next && launcher.fileOptions.has(name)) files.push(next.text);
    at += takesNext ? 2 : 1;
  }
}

/** Reads `--name`, `--name=value`, `-n`, `-abc` and `-nvalue`. */
function optionIn(
  { flags, valued, naming, names }: Launcher,
  text: string,
): { readonly name: string; readonly value?: string; readonly takesNext: boolean } | undefined {
  const takesValue = (name: string): boolean => valued.has(name) || naming.has(name);
  const equals = text.indexOf('=');
  if (equals > 0 && (text.startsWith('--') || equals === 2))
    return { name: text.slice(0, equals), value: text.slice(equals + 1), takesNext: false };
  if (flags.has(text)) return { name: text, takesNext: false };
  if (takesValue(text)) return { name: text, takesNext: true };
  // npm takes `-abc` for the name of one option.
  if (text.startsWith('--') || names === 'npm') return undefined;
  for (let at = 1; at < text.length; at++) {
    const name = `-${text[at]}`;
    const value = text.slice(at + 1);
    if (takesValue(name))
      return value === '' ? { name, takesNext: true } : { name, value, takesNext: false };
    if (!flags.has(name)) return undefined;
  }
  return undefined;
}

type Spec = Pick<NamedPackage, 'name' | 'requested' | 'pinned'>;

const specs: Readonly<Record<Launcher['names'], (text: string) => Spec | undefined>> = {
  npm: npmSpec,
  pep508: pythonSpec,
  image: imageSpec,
};

function spec(name: string, requested: string | undefined, pinned: boolean): Spec {
  return requested === undefined || requested === ''
    ? { name, pinned: false }
    : { name, requested, pinned };
}

const npmName = /^((?:@[a-z\d~_][\w.~-]{0,213}\/)?[a-z\d~_][\w.~-]{0,213})(?:@(.{0,256}))?$/i;
/** npm reads a version loosely, so `v1.2.3` and `=1.2.3` are exact too. */
export const npmVersion =
  /^[v=]*\d{1,16}\.\d{1,16}\.\d{1,16}(?:-[\da-z.-]{1,100})?(?:\+[\da-z.-]{1,100})?$/i;

/** Undefined for a folder, an address, a repository and an alias: no registry has a version of it. */
function npmSpec(text: string): Spec | undefined {
  const [, name, requested] = npmName.exec(text) ?? [];
  if (name === undefined || /\.(?:tgz|tar|tar\.gz)$/i.test(text)) return undefined;
  if (requested !== undefined && /[:/\\]/.test(requested)) return undefined;
  return spec(name, requested, npmVersion.test(requested ?? ''));
}

const pythonName =
  /^([a-z\d](?:[\w.-]{0,212}[a-z\d])?)(?:\s{0,9}\[[\w.,\s-]{0,200}\])?\s{0,9}(.{0,256})$/i;
const pythonVersion = /^v?(?:\d{1,9}!)?\d{1,16}(?:\.\d{1,16}){0,9}[\da-z.+_-]{0,100}$/i;

/** A specifier of PEP 508, or `name@1.2.3` as uv reads it. */
function pythonSpec(text: string): Spec | undefined {
  const [, name, behind = ''] = pythonName.exec(text) ?? [];
  if (name === undefined) return undefined;
  const [range = ''] = behind.split(';');
  const [, at] = /^@\s{0,9}([^\s/:]{1,200})$/.exec(range.trim()) ?? [];
  if (at !== undefined) return spec(name, at, pythonVersion.test(at));
  if (!/^(?:$|[<>=!~(])/.test(range.trim())) return undefined;
  const [, exact] = /^={2,3}\s{0,9}([^,*\s]{1,200})$/.exec(range.trim()) ?? [];
  if (exact !== undefined && pythonVersion.test(exact)) return spec(name, exact, true);
  return spec(name, range.trim(), false);
}

const imageName =
  /^((?:[\w.-]{1,255}(?::\d{1,5})?\/)?[a-z\d][\w./-]{0,255})(?::([\w][\w.-]{0,127}))?(?:@(sha\d{3}:[\da-f]{32,128}))?$/;

/** A tag names another image tomorrow, so only a digest is exact. */
function imageSpec(text: string): Spec | undefined {
  const [, name, tag, digest] = imageName.exec(text) ?? [];
  return name === undefined ? undefined : spec(name, digest ?? tag, digest !== undefined);
}
