/**
 * Typed reading of the keys of one server in another program's file. The reader remembers each key and notes each value of
 * another type, so import drops no key in silence (C6).
 */
import { isObject } from '../base/isObject.js';
import { asText } from '../base/text.js';
import { milliseconds } from '../config/durations.js';

type Table = Readonly<Record<string, unknown>>;

/** Notes an unusable value. @param decides true if the server would do something else without it */
type Complain = (message: string, decides: boolean) => void;

export class Keys {
  private readonly read = new Set<string>();

  constructor(
    private readonly raw: Table,
    private readonly complain: Complain,
  ) {}

  has(...keys: string[]): boolean {
    return keys.some((key) => isThere(this.raw[key]));
  }

  peek(key: string): unknown {
    return this.raw[key];
  }

  /** Returns the value of the first of several synonyms. */
  take(...keys: string[]): unknown {
    const [key, ...others] = keys.filter((each) => isThere(this.raw[each]));
    keys.forEach((each) => this.read.add(each));
    for (const other of others) this.complain(`\`${other}\` means the same as \`${key}\`, which is used.`, false);
    return key === undefined ? undefined : this.raw[key];
  }

  text(...keys: string[]): string | undefined {
    const value = this.take(...keys);
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    return this.wrong(keys, 'a text');
  }

  table(...keys: string[]): Table | undefined {
    const value = this.take(...keys);
    return value === undefined || isObject(value) ? value : this.wrong(keys, 'an object');
  }

  /** Returns a list of names. A single name counts as a list. */
  names(...keys: string[]): string[] | undefined {
    const value = this.take(...keys);
    if (value === undefined) return undefined;
    if (typeof value === 'string') return [value];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    return this.wrong(keys, 'a list of names');
  }

  /** Returns a boolean, even if it is written as a text. */
  truth(key: string): boolean | undefined {
    const value = this.take(key);
    if (value === undefined || typeof value === 'boolean') return value;
    if (/^true$/i.test(asText(value))) return true;
    if (/^false$/i.test(asText(value))) return false;
    return this.wrong([key], '`true` or `false`');
  }

  /** Returns milliseconds. @param unitMs the unit of a plain number */
  duration(key: string, unitMs: number): number | undefined {
    const value = this.take(key);
    if (value === undefined) return undefined;
    const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value));
    const ms = isNumber ? Number(value) * unitMs : typeof value === 'string' ? milliseconds(value) : undefined;
    if (isNumber && ms !== undefined && ms > 0 && ms < 1000) {
      this.complain(`\`${key}\` would be ${ms} ms, which is too short to be meant, so it is not carried over.`, false);
      return undefined;
    }
    if (ms !== undefined && ms > 0) return ms;
    this.complain(`\`${key}\` is not a duration.`, false);
    return undefined;
  }

  left(): string[] {
    return Object.keys(this.raw).filter((key) => isThere(this.raw[key]) && !this.read.has(key));
  }

  private wrong(keys: readonly string[], expected: string): undefined {
    const key = keys.find((each) => isThere(this.raw[each])) ?? keys[0];
    this.complain(`\`${key}\` is not ${expected}.`, true);
    return undefined;
  }
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
