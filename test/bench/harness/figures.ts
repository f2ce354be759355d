/** Medians, and figures as text. Pure. */

export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? NaN;
  const high = sorted[Math.ceil(place)] ?? NaN;
  return low + (high - low) * (place - Math.floor(place));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function largest(values: readonly number[]): number {
  return quantile(values, 1);
}

export function milliseconds(value: number): string {
  const abs = Math.abs(value);
  if (abs >= 10_000) return `${(value / 1000).toFixed(1)} s`;
  return `${value.toFixed(abs < 10 ? 2 : abs < 100 ? 1 : 0)} ms`;
}

export function microseconds(value: number): string {
  return `${value.toFixed(1)} µs`;
}

export function megabytes(bytes: number): string {
  const value = bytes / 1024 / 1024;
  return `${value.toFixed(Math.abs(value) < 10 ? 2 : 1)} MB`;
}

export function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString('en-US')} /s`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function times(value: number): string {
  return `${value.toFixed(2)} ×`;
}
