/** Reads variables of an environment. On Windows, `Path` and `PATH` are the same. */

export type Environment = Readonly<Record<string, string | undefined>>;

function sameName(a: string, b: string): boolean {
  return a === b || (process.platform === 'win32' && a.toUpperCase() === b.toUpperCase());
}

export function variable(env: Environment, name: string): string | undefined {
  const spelt = Object.keys(env).find((other) => sameName(other, name) && env[other] !== undefined);
  return spelt === undefined ? undefined : env[spelt];
}

/** Each name comes once. If Windows takes two names of `own` as one, the file's order must not decide (S1). */
export function overlaid(
  env: Environment,
  own: Iterable<readonly [string, string]>,
): Record<string, string | undefined> {
  const all: Record<string, string | undefined> = { ...env };
  for (const [name, value] of [...own].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const other of Object.keys(all)) if (sameName(other, name)) delete all[other];
    all[name] = value;
  }
  return all;
}
