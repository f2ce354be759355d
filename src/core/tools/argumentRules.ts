/**
 * Permissions that look at the arguments of a call (S4e), such as
 * `shell_exec(command: git push*)`. In doubt, a rule that asks or denies matches, and a rule that
 * allows does not: after too much work, for a value that is too deep, and for an argument in
 * another spelling.
 */
import { canonicalJson } from '../base/canonicalJson.js';
import type { Fields } from '../base/isObject.js';
import { isMadeOf } from '../base/partsInOrder.js';
import { Steps } from '../base/steps.js';
import { compileAllowed, foldedName } from './allowed.js';
import { compilePattern, stepsToMatch, type Pattern } from './patterns.js';

export interface Condition {
  readonly argument: string;
  readonly pattern: Pattern;
  readonly isToAllow: boolean;
}

type Key =
  | { readonly kind: 'tool'; readonly tool: string }
  | {
      readonly kind: 'arguments';
      readonly tool: string;
      readonly conditions: readonly (readonly [argument: string, pattern: string])[];
    }
  /** `tool` is the pattern of all tools that it may mean. */
  | { readonly kind: 'unread'; readonly tool: string };

/**
 * A comma always parts, so a pattern has `*` in its place. The blank behind the colon keeps
 * `http://host` from being an argument.
 */
const condition = /^ *([^\s,:*](?:[^,:*]*[^\s,:*])?): (\S(?:.*\S)?)$/s;

/** Reads the key of a rule. A bracket of any width begins its arguments. */
export function readPermissionKey(key: string): Key {
  const open = key.search(/[(（]/);
  if (open < 0) return { kind: 'tool', tool: key };
  const tool = key.slice(0, open);
  const parts = key.slice(open + 1, -1).split(',');
  const conditions = parts.flatMap((part) => {
    const [, argument, pattern] = condition.exec(part) ?? [];
    return argument === undefined || pattern === undefined ? [] : [[argument, pattern] as const];
  });
  const isRead =
    /^\S+$/.test(tool) &&
    key[open] === '(' &&
    key.endsWith(')') &&
    conditions.length === parts.length;
  if (isRead) return { kind: 'arguments', tool, conditions };
  return { kind: 'unread', tool: tool.trim() === '' ? '*' : tool.trim() };
}

export function compileCondition(argument: string, pattern: string, isToAllow: boolean): Condition {
  return {
    argument,
    pattern: isToAllow ? compileNarrow(pattern) : compilePattern(pattern),
    isToAllow,
  };
}

/** A shell would run what follows. No `*` of a rule that allows matches one of them. */
const shellSign = /([\n\v\f\r\x85\u2028\u2029;&|<>`$()])/;

/** The signs must be the same ones in the same order, so they part both texts alike. */
function compileNarrow(text: string): Pattern {
  const pattern = compileAllowed(text);
  const own = text.split(shellSign).map((part) => part.split('*'));
  return {
    ...pattern,
    matches: (value) => {
      const given = value.split(shellSign, own.length + 1);
      const isSame =
        given.length === own.length && own.every((parts, at) => isMadeOf(given[at] ?? '', parts));
      return isSame && pattern.matches(value);
    },
  };
}

/** One call may take so many steps of a pattern for all rules (N4a), some 30 ms. */
const mostSteps = 1_000_000;
const stepsOfName = 50;
const stepsOfPart = 10;
/** To copy a character takes less than to match it. */
const charactersOfStep = 20;
/** A message is not nested deeper (S2b). */
const mostLevels = 256;

export class SentArguments {
  private readonly steps = new Steps(mostSteps);
  private hasDoubt = false;

  constructor(private readonly sent: Fields = {}) {}

  /** True if a value would have taken too long to judge. */
  get areInDoubt(): boolean {
    return this.hasDoubt;
  }

  meet(conditions: readonly Condition[]): boolean {
    return conditions.every((one) => this.meetsOne(one));
  }

  private meetsOne({ argument, pattern, isToAllow }: Condition): boolean {
    if (this.steps.areSpent) return this.inDoubt(isToAllow);
    const names = Object.keys(this.sent);
    if (!this.steps.take(names.length * stepsOfName)) return this.inDoubt(isToAllow);
    const folded = foldedName(argument);
    // Some servers read a name in any case or normal form (O3b).
    const given = names.filter(
      (name) => this.sent[name] !== undefined && foldedName(name) === folded,
    );
    const fits = (name: string) => this.fits(this.sent[name], pattern, isToAllow);
    return isToAllow ? given.includes(argument) && given.every(fits) : given.some(fits);
  }

  private fits(value: unknown, pattern: Pattern, isToAllow: boolean): boolean {
    if (!this.isShort(value, 0)) return this.inDoubt(isToAllow);
    const texts = textsIn(value);
    const all = texts.filter((text) => text !== undefined);
    const isLong = all.some((text) => text.length > pattern.longest);
    if (isLong || !this.steps.take(stepsToMatch([pattern], all))) return this.inDoubt(isToAllow);
    return isToAllow
      ? texts.every((text) => text !== undefined && pattern.matches(text))
      : all.some((text) => pattern.matches(text));
  }

  private inDoubt(isToAllow: boolean): boolean {
    this.hasDoubt = true;
    return !isToAllow;
  }

  /** Counts the parts of a value before anything reads them. */
  private isShort(value: unknown, level: number): boolean {
    const isText = typeof value === 'string';
    const characters = isText ? value.length : 0;
    if (!this.steps.take(stepsOfPart + characters / charactersOfStep)) return false;
    if (isText || typeof value !== 'object' || value === null) return true;
    if (level > mostLevels) return false;
    if (Array.isArray(value)) return value.every((item) => this.isShort(item, level + 1));
    return Object.keys(value).every(
      (key) => this.isShort(key, level) && this.isShort((value as Fields)[key], level + 1),
    );
  }
}

/** An empty list has nothing that an allowing pattern could match, so it counts as undefined. */
function textsIn(value: unknown): readonly (string | undefined)[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return [canonicalJson(value)];
  return value.length === 0 ? [undefined] : value.flatMap(textsIn);
}
