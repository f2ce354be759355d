/**
 * The findings of a bench, as rows of one table for each rule: our figure, the base of the same
 * run, the measured value, the rule's target, and the verdict. Pure but for `print`. A missed
 * target is not a failure.
 */
import { times } from './figures.js';

export interface Row {
  readonly what: string;
  readonly ours: string;
  readonly base: string;
  /** The measured value for the target. */
  readonly measured: string;
  /** Empty: for comparison only. */
  readonly target: string;
  readonly met: boolean | undefined;
}

export interface Findings {
  /** `P3`. */
  readonly rule: string;
  readonly title: string;
  readonly rows: readonly Row[];
  /** The method, and skipped measurements. */
  readonly notes: readonly string[];
}

/** A row for comparison, without a target. */
export function plain(what: string, ours: string, base = '', measured = ''): Row {
  return { what, ours, base, measured, target: '', met: undefined };
}

export interface Limit {
  readonly what: string;
  readonly ours: string;
  readonly base?: string;
  readonly value: number;
  readonly limit: number;
  /** Default `atMost`. */
  readonly bound?: 'atMost' | 'atLeast';
  readonly write: (value: number) => string;
}

export function limited({
  what,
  ours,
  base = '',
  value,
  limit,
  bound = 'atMost',
  write,
}: Limit): Row {
  const sign = bound === 'atMost' ? '≤' : '≥';
  const met = bound === 'atMost' ? value <= limit : value >= limit;
  return { what, ours, base, measured: write(value), target: `${sign} ${write(limit)}`, met };
}

/** Our figure against a base of the same run. */
export function ratio(
  what: string,
  { ours, base }: { readonly ours: number; readonly base: number },
  { limit, write }: { readonly limit: number; readonly write: (value: number) => string },
): Row {
  return limited({
    what,
    ours: write(ours),
    base: write(base),
    value: ours / base,
    limit,
    write: times,
  });
}

/** A condition that must hold. `found` is the observation. */
export function holds(what: string, found: string, target: string, met: boolean): Row {
  return { what, ours: found, base: '', measured: '', target, met };
}

const heads = ['', 'MCP Toolsets', 'base', 'measured', 'target', ''] as const;

function render({ rule, title, rows, notes }: Findings): string {
  const cells = rows.map((row) => [
    row.what,
    row.ours,
    row.base,
    row.measured,
    row.target,
    row.met === undefined ? '' : row.met ? 'met' : 'missed',
  ]);
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === 0 || column === 5 ? cell.padEnd(widths[column] ?? 0) : pad(cell, widths[column]),
      )
      .join('  ')
      .trimEnd();
  const rule_ = widths.map((width) => '─'.repeat(width)).join('──');
  return [
    `${rule}  ${title}`,
    rule_,
    line(heads),
    rule_,
    ...cells.map(line),
    rule_,
    ...notes.map((note) => `  ${note}`),
    '',
  ].join('\n');
}

function pad(cell: string, width = 0): string {
  return cell.padStart(width);
}

export function print(findings: Findings): void {
  process.stdout.write(`${render(findings)}\n`);
}

export function printSummary(all: readonly Findings[]): void {
  const judged = all.flatMap(({ rule, rows }) =>
    rows.filter(({ met }) => met !== undefined).map((row) => ({ rule, row })),
  );
  const missed = judged.filter(({ row }) => row.met === false);
  process.stdout.write(`${judged.length - missed.length} of ${judged.length} targets met.\n`);
  for (const { rule, row } of missed) {
    process.stdout.write(
      `  missed  ${rule}  ${row.what}: ${row.measured || row.ours}, target ${row.target}\n`,
    );
  }
}
