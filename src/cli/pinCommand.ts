/** `mcp-toolsets pin`: writes exact versions behind the names of packages (C8). */
import path from 'node:path';
import { systemClock } from '../core/base/clock.js';
import { withoutMark } from '../core/base/byteOrderMark.js';
import { homedir } from '../core/base/home.js';
import { oneLine } from '../core/base/inert.js';
import type { Place } from '../core/base/problem.js';
import { withVersion } from '../core/config/edit/pinEdit.js';
import type { ConfiguredServer } from '../core/config/model.js';
import { isLocalFile, localPath } from '../core/config/sources.js';
import { ValueCommands } from '../core/connections/stdio/valueCommands.js';
import type { RunningPackage } from '../core/packages/package.js';
import { isOfNpm } from '../core/packages/pin.js';
import { keeperWith } from '../core/processes/keeper.js';
import { outsideOf, workspaceRoots } from '../core/processes/workspacePrograms.js';
import { changeOf, showChange, writeChange } from './changeCommands.js';
import { configDeps, readConfig, readConfigFiles, textIfThere } from './configFile.js';
import { Interruption } from './interruption.js';
import type { Options, Words } from './options.js';
import { complain, complainLines, print, reasonOf, toJson } from './output.js';
import { withSnapshot } from './withSnapshot.js';
import type { Run } from './withEngine.js';

type ValidServer = Extract<ConfiguredServer, { kind: 'valid' }>;

interface Pin extends Pick<RunningPackage, 'name' | 'requested' | 'runs' | 'pinned'> {
  readonly server: ValidServer;
  readonly newest: string | undefined;
  /** The version for the file, or why there is none, as a predicate. */
  readonly to: { readonly version: string } | { readonly why: string };
}

export async function pin(run: Run, names: Words, options: Options): Promise<number> {
  const files = readConfigFiles(run);
  const { servers } = readConfig(run, files);
  const unknown = names.find((name) => !servers.some(({ id }) => id === name));
  if (unknown !== undefined) return complain(`There is no server "${unknown}".`);
  // Without a name, only the files that colleagues share count.
  const meant = servers.filter(({ id, origin }) =>
    names.length > 0 ? names.includes(id) : origin !== 'user',
  );
  const packages = new Map<string, RunningPackage>();
  await withSnapshot(run, options, (snapshot) => {
    for (const { id, package: named } of snapshot.servers) if (named) packages.set(id, named);
    return 0;
  });
  const newest = options.latest ? newestVersions(run, workspaceRoots(files.sources)) : undefined;
  const pins: Pin[] = [];
  try {
    for (const server of meant) {
      const named = packages.get(server.id);
      if (server.kind === 'valid' && named) pins.push(await pinOf(server, named, newest?.of));
      else if (names.length > 0) complain(`The launch of "${server.id}" names no known package.`);
    }
  } finally {
    await newest?.end();
  }
  return carryOut(run, pins, options.write);
}

type Newest = (name: string) => Promise<Pin['to']>;

async function pinOf(
  server: ValidServer,
  named: RunningPackage,
  newestOf: Newest | undefined,
): Promise<Pin> {
  const { name, requested, runs, pinned: isPinned } = named;
  const newest = newestOf && isOfNpm(named) ? await newestOf(name) : undefined;
  const ofRun: Pin['to'] =
    runs === undefined ? { why: 'has no known version that runs' } : { version: runs };
  // A version in the layer pins nothing for colleagues.
  const isLayered = isLocalFile(argumentOf(server).file);
  const stays = `stays: its arguments are in ${localPath}. --no-local pins the shared file`;
  return {
    server,
    name,
    ...(requested !== undefined && { requested }),
    ...(runs !== undefined && { runs }),
    pinned: isPinned,
    newest: newest && 'version' in newest ? newest.version : undefined,
    to: isLayered ? { why: stays } : (newest ?? (isPinned ? { why: 'is pinned' } : ofRun)),
  };
}

/** The place of the argument with the package. */
function argumentOf({ definition: { places, package: named } }: ValidServer): Place {
  return places.value(['args', named?.argument ?? 0]);
}

function carryOut({ folder, json }: Run, pins: readonly Pin[], write: boolean): number {
  const changes = new Map<string, ReturnType<typeof changeOf>>();
  let code = 0;
  try {
    for (const one of pins) {
      const { server, to } = one;
      if (!json) complainLines(lineOf(one));
      const { definition } = server;
      const { file } = argumentOf(server);
      const known = changes.get(file);
      const before = known?.before ?? textIfThere(file) ?? '';
      const now = withoutMark(known?.after ?? before);
      const after = 'version' in to ? withVersion(now, definition, to.version) : undefined;
      const root = server.origin === 'user' ? path.dirname(file) : folder;
      const place = { root, file, label: path.relative(folder, file) };
      if (after !== undefined) changes.set(file, changeOf(place, before, { after, report: '' }));
      else if (!one.pinned) code = 1;
    }
    for (const change of changes.values()) {
      if (write) writeChange(change);
      if (!json) showChange(change, write);
    }
  } catch (error) {
    return complain(`Nothing was pinned: ${reasonOf(error)}.`);
  }
  const shown = pins.map(({ server, ...rest }) => ({ server: server.id, ...rest }));
  if (json) print(toJson({ packages: shown, written: write }));
  return code;
}

function lineOf({ server, name, requested, runs, newest, to }: Pin): string {
  const parts = [
    ...(newest === undefined ? [] : [`newest ${newest}`]),
    ...(runs === undefined ? [] : [`runs ${runs}`]),
    `the file has ${requested ?? 'no version'}`,
  ];
  const why = 'why' in to ? ` It ${to.why}.` : '';
  return oneLine(`${server.id}: ${name}, ${parts.join(', ')}.${why}`);
}

/**
 * Asks npm with the configuration of the person: it runs in the home folder and is looked up in no
 * folder of the workspace.
 */
function newestVersions(run: Run, roots: readonly string[]) {
  const { env } = configDeps;
  const { keeper, next } = keeperWith(run.guardianScript, env);
  const interruption = new Interruption();
  const commands = new ValueCommands({
    env: () => outsideOf(roots, env),
    clock: systemClock,
    process: next,
  });
  const of: Newest = async (name) => {
    const source = {
      kind: 'command',
      argv: ['npm', 'view', '--', name, 'version'],
      cwd: homedir(),
    } as const;
    const log = { write: () => {} };
    const found = await commands.outputsFor([{ source, path: [] }], log, interruption.signal);
    if (found.kind === 'known') return { version: found.of(source).trim() };
    return { why: found.kind === 'failed' ? `stays: ${found.failure.message}` : 'stays' };
  };
  const end = async (): Promise<void> => {
    await keeper.dispose();
    interruption.dispose();
  };
  return { of, end };
}
