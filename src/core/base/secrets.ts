/**
 * Only this module decides about secrets in texts and command lines (E4). Invariant: valid JSON
 * stays valid JSON.
 */
import { bare, type Span } from './readings.js';
import {
  isNoValue,
  isPlural,
  isRandom,
  isToken,
  isTrivial,
  nameStrength,
  tokenBeginnings,
  userOption,
} from './secretNames.js';
import { findSecrets, type Found } from './secretScan.js';
import { unlessThrown } from './unlessThrown.js';

export const mask = '•••';

interface Removal {
  /** True for a value to keep, because it is a reference. */
  readonly spare?: (value: string) => boolean;
  /** False to keep the values of an environment (`-e NAME=value`). */
  readonly environment?: boolean;
  readonly known?: (text: string) => string;
}

/** The depth of texts within texts. A deeper text is treated as one. */
const deepest = 3;

/** @param depth counts the texts around this one */
export function withoutSecrets(text: string, removal: Removal = {}, depth = 0): string {
  const start = depth < deepest ? beginningOfJson(text) : -1;
  if (start < 0) return plainCleaned(text, removal);
  const json = new JsonCleaning(text.slice(start), removal, depth).run();
  return start === 0 ? json : plainCleaned(text.slice(0, start), removal) + json;
}

export function secretsIn(text: string): string[] {
  return findSecrets(text).map(({ start, end }) => text.slice(start, end));
}

export function isSecret(name: string, value: string): boolean {
  if (isTrivial(value, name)) return false;
  return hasSecretShape(value) || isSecretName(name) || findSecrets(value).some(isSure);
}

export function hasSecretShape(value: string): boolean {
  return isRandom(value) || (beginning.test(value) && isToken(value));
}

export function isSecretName(name: string): boolean {
  return nameStrength(name) !== 'none';
}

const beginning = new RegExp(`^(?:${tokenBeginnings})`);
const isSure = ({ kind }: Found): boolean => kind === 'secret';

export function withoutArgumentSecrets(args: readonly string[]): string[] {
  return args.map((arg, index) => cleanArgument(arg, args[index - 1], {}));
}

/**
 * Returns the spans of the secrets of a text. @param before the argument in front of it, if the
 * text is an argument
 */
export function secretSpansOf(text: string, before?: string): Span[] {
  return (before === undefined ? findSecrets(text) : inArgument(text, before)).filter(isSure);
}

export function secretsOfArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, index) =>
    inArgument(arg, args[index - 1]).map(({ start, end }) => arg.slice(start, end)),
  );
}

function cleanArgument(arg: string, before: string | undefined, removal: Removal): string {
  const found = inArgument(arg, before);
  if (found.length > 0 || removal.known === undefined) return replaced(arg, found, removal);
  return withoutSecrets(arg, removal);
}

function inArgument(arg: string, before = ''): readonly Found[] {
  const variable = variableStart(arg, before);
  if (variable > 0) return valueOfEnvironment(arg, variable);
  const found = findSecrets(arg);
  if (found.length > 0) return found;
  const from = (start: number): readonly Found[] =>
    arg.length > start ? [{ start, end: arg.length, kind: 'secret' }] : [];
  const header = /^(?:-H|--header)$/.test(before) && /^[\w-]{1,96}:\s{0,8}/.exec(arg);
  if (header)
    return [
      {
        start: header[0].length,
        end: arg.length,
        kind: 'environment',
      },
    ];
  if (userOption.test(before)) return arg.includes(':') ? from(arg.indexOf(':') + 1) : [];
  return isSecretArgument(arg, before) ? from(0) : [];
}

/** Returns where the value of a variable begins: `-e NAME=value`, `--env=NAME=value`; otherwise 0. */
function variableStart(arg: string, before: string): number {
  if (/^(?:-e|--env|--build-arg)$/.test(before) && arg.indexOf('=') > 0)
    return arg.indexOf('=') + 1;
  return /^(?:-e|--env=)[A-Za-z_]\w{0,95}=/.exec(arg)?.[0].length ?? 0;
}

/** True for a whole argument that is a secret, by its shape or by the option before it. */
function isSecretArgument(arg: string, before: string): boolean {
  if (arg.startsWith('-')) return false;
  if (hasSecretShape(arg)) return true;
  // `--api-key abc`
  if (/^--?[A-Za-z][\w.-]{0,95}$/.test(before) && isSecretName(before) && !isTrivial(arg, before))
    return true;
  // `-p hunter2`
  if (!/^-[pPkK]$/.test(before) || !/^[^/@:.]{4,}$/.test(arg)) return false;
  return /\d/.test(arg) && /[A-Za-z]/.test(arg);
}

function valueOfEnvironment(arg: string, start: number): readonly Found[] {
  const name = arg.slice(0, start - 1).replace(/^(?:-e|--env=)/, '');
  const value = arg.slice(start);
  const within = findSecrets(arg).filter(isSure);
  if (nameStrength(name) === 'none' && within.length > 0) return within;
  if (value === '') return [];
  return [
    {
      start,
      end: arg.length,
      kind: isSecret(name, value) ? 'secret' : 'environment',
    },
  ];
}

function replaced(
  text: string,
  found: readonly Found[],
  { spare, environment = true }: Removal,
): string {
  let result = '';
  let at = 0;
  for (const { start, end, kind } of found) {
    if (start < at || (kind === 'environment' && !environment) || spare?.(text.slice(start, end)))
      continue;
    result += text.slice(at, start) + mask;
    at = end;
  }
  return result + text.slice(at);
}

function plainCleaned(text: string, removal: Removal): string {
  const rest = removal.known?.(text) ?? text;
  return replaced(rest, findSecrets(rest), removal);
}

/** Returns the offset of JSON at the end of the text, as in a line of a log, or -1. */
function beginningOfJson(text: string): number {
  const last = text.trimEnd().at(-1);
  if (last !== '}' && last !== ']' && last !== '"') return -1;
  const start = /^\s{0,8}"/.test(text) ? text.indexOf('"') : text.search(/(?<!\u001b)[{[]/);
  if (start < 0) return -1;
  return unlessThrown((): unknown => JSON.parse(text.slice(start))) === undefined ? -1 : start;
}

interface Frame {
  readonly isList: boolean;
  name: string;
  /** The text before it in a list; it may be an option. */
  before: string;
}

const literals = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"{}[\],:]+|[{}[\],:]/g;

/** Goes through valid JSON literal by literal: texts and numbers change, and nothing else. */
class JsonCleaning {
  private readonly frames: Frame[] = [
    {
      isList: false,
      name: '',
      before: '',
    },
  ];
  private isKey = false;

  constructor(
    private readonly text: string,
    private readonly removal: Removal,
    private readonly depth: number,
  ) {}

  run(): string {
    return this.text.replace(literals, (literal) =>
      literal.startsWith('"') ? this.cleanText(literal) : this.cleanWord(literal),
    );
  }

  private get frame(): Frame {
    return this.frames.at(-1) as Frame;
  }

  private cleanText(literal: string): string {
    const { removal, frame } = this;
    const value = JSON.parse(literal) as string;
    if (this.isKey) {
      frame.name = bare(value);
      const key = removal.known?.(value) ?? value;
      return key === value ? literal : JSON.stringify(key);
    }
    const clean = this.cleanValue(value, frame);
    if (frame.isList) frame.before = bare(value);
    return clean === value ? literal : JSON.stringify(clean);
  }

  private cleanValue(value: string, { name, isList, before }: Frame): string {
    const { removal } = this;
    if (isSecretOf(name, value) && !removal.spare?.(value)) return whole(name, value);
    if (isList && before.startsWith('-')) return cleanArgument(value, before, removal);
    const clean = withoutSecrets(value, removal, this.depth + 1);
    return clean === value && isList && value.startsWith('-')
      ? cleanArgument(value, before, removal)
      : clean;
  }

  private cleanWord(word: string): string {
    const { frame, frames, removal } = this;
    if (word === '{')
      frames.push({
        isList: false,
        name: '',
        before: '',
      });
    else if (word === '[')
      frames.push({
        isList: true,
        name: isPlural(frame.name) ? frame.name : '',
        before: '',
      });
    else if (word === '}' || word === ']') frames.pop();
    if (/^[{}[\],:]$/.test(word)) this.isKey = word === '{' || (word === ',' && !frame.isList);
    if (!/^[-\d]/.test(word)) return word;
    const secret = isSecretOf(frame.name, word) || (removal.known?.(word) ?? word) !== word;
    return secret ? JSON.stringify(mask) : word;
  }
}

/** In JSON every value has a name beside it, so a single word is weaker evidence. */
function isSecretOf(name: string, value: string): boolean {
  if (name === '' || isTrivial(value, name) || isNoValue(value)) return false;
  const strength = nameStrength(name);
  return strength !== 'none' && (strength !== 'weak' || !/^[A-Za-z]{1,15}$/.test(value));
}

/** The scheme of a header stays: `Bearer •••`. */
function whole(name: string, value: string): string {
  const scheme = /authorization$/i.test(name)
    ? (/^[A-Za-z]{1,20} (?=\S)/.exec(value)?.[0] ?? '')
    : '';
  return scheme + mask;
}
