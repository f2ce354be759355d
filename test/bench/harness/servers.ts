/** The measured servers, as commands for a bare client and as entries of a config file. */
import { join } from 'node:path';
import { root } from './run.js';

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface ServerEntry extends ServerCommand {
  readonly id: string;
  /** More keys of the entry, as JSON values. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export function fixture(name: string, ...args: string[]): ServerCommand {
  return node(join(root, 'test/fixtures/servers', `${name}.mjs`), ...args);
}

function node(script: string, ...args: string[]): ServerCommand {
  return { command: process.execPath, args: [script, ...args] };
}

const packages = join(root, 'node_modules/@modelcontextprotocol');

/**
 * From the registry, started by Node itself, because `npx` would be the greater part of the
 * measured time.
 */
export const everything = node(join(packages, 'server-everything/dist/index.js'), 'stdio');

/** @param folder the folder it may read */
export function filesystem(folder: string): ServerCommand {
  return node(join(packages, 'server-filesystem/dist/index.js'), folder);
}

export const memory = node(join(packages, 'server-memory/dist/index.js'));

/** This number of synthetic servers with different tool names. */
export function numbered(
  count: number,
  more: Readonly<Record<string, unknown>> = {},
): ServerEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `s${index}`,
    ...fixture('raw'),
    more: { transform: [{ prefix: `s${index}_` }], ...more },
  }));
}

/** JSON is YAML. */
export function configText(entries: readonly ServerEntry[]): string {
  const servers = Object.fromEntries(
    entries.map(({ id, command, args, more }) => [
      id,
      { transport: 'stdio', command, args, ...more },
    ]),
  );
  return JSON.stringify({ version: 1, servers }, undefined, 1);
}
