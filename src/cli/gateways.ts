/**
 * Finds the gateways of a folder (G6). One must prove that it knows the token, so no other program
 * receives it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { systemClock } from '../core/base/clock.js';
import { homedir } from '../core/base/home.js';
import { oneLine } from '../core/base/inert.js';
import { isObject } from '../core/base/isObject.js';
import { asText } from '../core/base/text.js';
import { confinementHere, differences } from '../core/base/confinement.js';
import { notedAddresses, type NotedAddress, type Program } from '../core/files/addressFile.js';
import { answerAt, proofAt } from '../core/files/proof.js';
import { tokenFileOf, tokenIn } from '../core/files/tokenFile.js';
import {
  everyToolset,
  programsPath,
  snapshotPath,
  type ConnectedProgram,
} from '../core/gateway/routes.js';
import { storedJson } from '../core/protocol/json.js';
import { receivedSnapshot } from '../core/reconcile/sentSnapshot.js';
import type { StatusSnapshot } from '../core/reconcile/status.js';
import { version } from '../../package.json';
import type { Options } from './options.js';
import { complain, reasonOf } from './output.js';
import type { Run } from './withEngine.js';

export function tokenFileFor({ folder }: Pick<Run, 'folder'>, options: Options): string {
  return path.resolve(options['token-file'] ?? tokenFileOf(folder, homedir()));
}

export type FoundGateway = NotedAddress & { readonly token: string };
type ServedBy = FoundGateway & { readonly clients: readonly ConnectedProgram[] };

export interface Served {
  readonly gateways: readonly ServedBy[];
  /** Of other sandboxes, which may do more or less than this process (G6g). */
  readonly elsewhere: readonly NotedAddress[];
}

export const engineProgram: Program = { kind: 'engine', version };

/**
 * Returns the gateway that a client joins. An open editor or `serve` takes over new clients from an
 * engine, and no client joins an engine of another version.
 */
export async function foundGateway(tokenFile: string): Promise<FoundGateway | undefined> {
  const { here } = await gatewaysOf(tokenFile);
  const others = here.filter(({ program }) => program.kind !== 'engine');
  return await firstProven(tokenFile, [...others, ...here.filter(isOurEngine)]);
}

export async function foundEngine(tokenFile: string): Promise<FoundGateway | undefined> {
  const { here } = await gatewaysOf(tokenFile);
  return await firstProven(tokenFile, here.filter(isOurEngine));
}

function isOurEngine({ program: { kind, version } }: NotedAddress): boolean {
  return kind === engineProgram.kind && version === engineProgram.version;
}

async function gatewaysOf(tokenFile: string) {
  const noted = await notedAddresses(tokenFile);
  const isHere = ({ confinement }: NotedAddress): boolean =>
    differences(confinement, confinementHere()).length === 0;
  return {
    here: noted.filter(isHere),
    elsewhere: noted.filter((each) => !isHere(each)),
  };
}

async function firstProven(
  tokenFile: string,
  noted: readonly NotedAddress[],
): Promise<FoundGateway | undefined> {
  for (const each of noted) {
    const found = await proven(tokenFile, each);
    if (found) return found;
  }
  return undefined;
}

async function proven(tokenFile: string, noted: NotedAddress): Promise<FoundGateway | undefined> {
  const { port, pid } = noted;
  const token = await keptToken(tokenFile);
  if (token === undefined) return undefined;
  const proof = await proofAt(port, token);
  if (proof === 'proven') return { ...noted, token };
  complain(
    proof === 'silent'
      ? `No program answers on port ${port}, which process ${pid} noted for this folder.`
      : `Another program listens on port ${port}. It does not know the token of this folder, so the token was not sent to it.`,
  );
  return undefined;
}

/** Resolves to undefined after a complaint. */
export async function keptToken(file: string): Promise<string | undefined> {
  try {
    return await tokenIn(file);
  } catch (error) {
    complain(
      `The token of this folder cannot be kept in ${file}: ${reasonOf(error)}. Name a file that you can write with --token-file, in each command that serves or joins this folder.`,
    );
    return undefined;
  }
}

/** One line for each gateway of another sandbox. */
export function elsewhereLines(elsewhere: readonly NotedAddress[]): string[] {
  return elsewhere.map(({ program, confinement }) => {
    const what = `${kindWords[program.kind]} (version ${program.version})`;
    const names = differences(confinement, confinementHere()).join(', ');
    return `Elsewhere, ${what} serves this folder too. It may do other things than a program here, because it differs in: ${names}. So no client from here joins it.`;
  });
}

/** The first line of an engine that serves the folder. */
export const engineIsReady = 'ready';

/**
 * Starts an engine that outlives this process. Resolves when it or another one serves the folder;
 * rejects with its reason.
 */
export async function startEngine(
  { script, folder, maxInstances }: Run,
  tokenFile: string,
): Promise<void> {
  // The launcher's entry starts this process by `node -e`, so the options of Node are not those of
  // a script.
  const args = [script, 'engine', '--folder', folder, '--token-file', tokenFile];
  if (maxInstances !== undefined) args.push(`--max-instances=${maxInstances}`);
  const options = {
    cwd: folder,
    detached: true,
    windowsHide: true,
  };
  const engine = spawn(process.execPath, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = text(engine.stderr).catch(() => '');
  const began = once(engine.stdout, 'data').then(([line]) =>
    String(line).startsWith(engineIsReady),
  );
  const ended = once(engine, 'close').then(() => false);
  try {
    if (!(await Promise.race([began, ended])))
      throw new Error((await said).trim() || 'it ended at once');
  } finally {
    engine.unref();
    engine.stdout.destroy();
    engine.stderr.destroy();
  }
}

export async function servedBy(tokenFile: string): Promise<Served> {
  const { here, elsewhere } = await gatewaysOf(tokenFile);
  const found = await Promise.all(here.map((noted) => proven(tokenFile, noted)));
  const all = found.filter((each) => each !== undefined);
  const gateways = await Promise.all(
    all.map(async (each) => ({ ...each, clients: await clientsOf(each) })),
  );
  return { gateways, elsewhere };
}

const largestSnapshot = 64 << 20;
/** The gateway waits 8 s for starting servers. */
const snapshotLimitMs = 20_000;

/** Undefined if nobody of this version answers. Another version may have other states. */
export async function servedSnapshot(
  gateways: readonly FoundGateway[],
): Promise<StatusSnapshot | undefined> {
  const found = gateways.find(({ program }) => program.version === version);
  if (!found) return undefined;
  const text = asked(found, snapshotPath, largestSnapshot, snapshotLimitMs);
  return await text.then(receivedSnapshot, () => undefined);
}

function asked(
  { port, token }: FoundGateway,
  path: string,
  longest: number,
  limitMs?: number,
): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  return answerAt(port, path, {
    clock: systemClock,
    longest,
    headers,
    limitMs,
  });
}

async function clientsOf(gateway: FoundGateway): Promise<ConnectedProgram[]> {
  try {
    const listed = storedJson(await asked(gateway, programsPath, 1 << 20));
    return (Array.isArray(listed) ? listed : [])
      .filter(isObject)
      .map(({ program, toolset }) => ({ program: asText(program), toolset: asText(toolset) }));
  } catch {
    // It ends at this moment.
    return [];
  }
}

const kindWords = {
  editor: 'an editor',
  serve: '`serve`',
  engine: 'an engine',
} as const;

const minutes = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short' });

export function gatewayLines(gateways: readonly ServedBy[]): string[] {
  return gateways.map((gateway) => {
    const { program, since, pid } = gateway;
    return `Served by ${kindWords[program.kind]} (version ${program.version}, process ${pid}) since ${minutes.format(since)}, for ${clientNames(gateway)}.`;
  });
}

export function clientNames({ clients }: Pick<ServedBy, 'clients'>): string {
  const names = clients.map(({ program, toolset }) => {
    const name = program === '' ? 'a client without a name' : program;
    return oneLine(toolset === everyToolset ? name : `${name} (${toolset})`);
  });
  return names.length === 0 ? 'nobody' : [...new Set(names)].join(', ');
}
