import type { Timeouts } from './model.js';

const second = 1000;
const minute = 60 * second;
const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: second,
  m: minute,
};

export const defaultTimeouts: Timeouts = {
  connect: 30 * second,
  call: 30 * second,
  callMax: 10 * minute,
  idle: 15 * minute,
};

/** Returns milliseconds, neither rounded nor bounded, or undefined for other texts. */
export function milliseconds(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?) ?(ms|s|m)$/.exec(text) ?? [];
  const factor = unit === undefined ? undefined : units[unit];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}

/** Returns the shortest way to write a duration. Fractions of a millisecond are rounded. */
export function durationText(ms: number): string {
  if (ms % minute === 0) return `${ms / minute}m`;
  return ms % second === 0 ? `${ms / second}s` : `${Math.round(ms)}ms`;
}
