/** Environments of programs. On Windows, `Path` and `PATH` are the same. */
import { delimiter } from 'node:path';
import { tokenVariable } from '../base/tokenVariable.js';

export type Environment = Readonly<Record<string, string | undefined>>;

function sameName(a: string, b: string): boolean {
  return a === b || (process.platform === 'win32' && a.toUpperCase() === b.toUpperCase());
}

export function variable(env: Environment, name: string): string | undefined {
  const spelt = Object.keys(env).find((other) => sameName(other, name) && env[other] !== undefined);
  return spelt === undefined ? undefined : env[spelt];
}

/**
 * Each name comes once. If Windows takes two names of `own` as one, the file's order must not
 * decide (S1).
 */
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

interface LaunchVariables {
  readonly envFile?: { readonly values: ReadonlyMap<string, string> } | undefined;
  readonly env: ReadonlyMap<string, { readonly value: string }>;
}

/** The environment of a server (C2). */
export function environmentOf(
  { envFile, env }: LaunchVariables,
  hostEnv: Environment,
): Environment {
  const own = [...env].map(([name, { value }]) => [name, value] as const);
  return overlaid(overlaid(inherited(hostEnv), envFile?.values ?? []), own);
}

/** Returns the environment of the host without our own token. */
export function inherited(hostEnv: Environment): Environment {
  return Object.fromEntries(
    Object.entries(hostEnv).filter(([name]) => name.toUpperCase() !== tokenVariable),
  );
}

/** On Windows, an entry of PATH may be in quotation marks. */
export function pathEntries(env: Environment): string[] {
  const entries = variable(env, 'PATH')?.split(delimiter) ?? [];
  return process.platform === 'win32'
    ? entries.map((entry) => entry.replace(/^"(.*)"$/, '$1'))
    : entries;
}

export function withPathEntries(env: Environment, entries: readonly string[]): Environment {
  return variable(env, 'PATH') === undefined
    ? env
    : overlaid(env, [['PATH', entries.join(delimiter)]]);
}

/** Package managers set at least one of these. */
const signs = ['npm_execpath', 'npm_lifecycle_event', 'npm_command', 'npm_config_user_agent'];
/**
 * A person's `NPM_CONFIG_REGISTRY` stays, because npm writes small letters. Windows does not tell
 * them apart.
 */
const ofNpm = new RegExp('^(?:npm_.*|INIT_CWD|COLOR)$', process.platform === 'win32' ? 'i' : '');
const folderOfNpm = /[\\/](?:node_modules[\\/]\.bin|node-gyp-bin)[\\/]?$/;

/**
 * Takes out what `npx` and `npm run` add (X1b), because a repository decides it by its `.npmrc` and
 * its `node_modules`.
 */
export function withoutNpm(env: Environment): Environment {
  if (signs.every((sign) => variable(env, sign) === undefined)) return env;
  const copies = {
    NODE: 'npm_node_execpath',
    NODE_OPTIONS: 'npm_config_node_options',
    EDITOR: 'npm_config_editor',
  };
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !ofNpm.test(name)));
  for (const [name, setting] of Object.entries(copies)) {
    const left = rest[name]?.replaceAll(variable(env, setting) || '\0', () => ' ').trim();
    if (left === '') delete rest[name];
    // A program between npm and this one may have added to the options.
    else if (name === 'NODE_OPTIONS' && left !== undefined) rest[name] = left;
  }
  // npm puts its folders in front, that of node-gyp last. Later ones of the same name are the
  // person's.
  const entries = pathEntries(rest);
  const last = entries.findLastIndex((entry) => /node-gyp-bin[\\/]?$/.test(entry));
  const isPersons = (entry: string, index: number): boolean =>
    (last >= 0 && index > last) || !folderOfNpm.test(entry);
  return withPathEntries(rest, entries.filter(isPersons));
}

/** Takes npm's variables from this process, so that nothing it starts inherits them. */
export function forgetNpm(): void {
  const kept = withoutNpm(process.env);
  for (const name of Object.keys(process.env))
    if (variable(kept, name) === undefined) delete process.env[name];
  Object.assign(process.env, kept);
}
