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
import {
  notedAddress,
  notedAddresses,
  type NotedAddress,
  type Program,
} from '../core/files/addressFile.js';
import { answerAt, knowsToken } from '../core/files/proof.js';
import { tokenFileOf, tokenIn } from '../core/files/tokenFile.js';
import { everyToolset, programsPath, type ConnectedProgram } from '../core/gateway/routes.js';
import { storedJson } from '../core/protocol/json.js';
import { version } from '../../package.json';
import type { Options } from './options.js';
import { complain } from './output.js';
import type { Run } from './withEngine.js';

export function tokenFileFor({ folder }: Pick<Run, 'folder'>, options: Options): string {
  return path.resolve(options['token-file'] ?? tokenFileOf(folder, homedir()));
}

export type FoundGateway = NotedAddress & { readonly token: string };
type ServedBy = FoundGateway & { readonly clients: readonly ConnectedProgram[] };

export const engineProgram: Program = { kind: 'engine', version };
/** An editor and `serve` share one file, so either finds both. */
const editorOrServe: Program = { kind: 'serve', version };

/**
 * @param programs in the order of preference; an open editor or `serve` takes over new clients from
 * an engine
 */
export async function foundGateway(
  tokenFile: string,
  programs: readonly Program[] = [editorOrServe, engineProgram],
): Promise<FoundGateway | undefined> {
  for (const program of programs) {
    const found = await proven(tokenFile, await notedAddress(tokenFile, program));
    if (found) return found;
  }
  return undefined;
}

async function proven(
  tokenFile: string,
  noted: NotedAddress | undefined,
): Promise<FoundGateway | undefined> {
  if (!noted) return undefined;
  const token = await tokenIn(tokenFile);
  if (await knowsToken(noted.port, token)) return { ...noted, token };
  const why = 'It does not know the token of this folder, so the token was not sent to it.';
  complain(`Another program listens on port ${noted.port}. ${why}`);
  return undefined;
}

/** The first line of an engine that serves the folder. */
export const engineIsReady = 'ready';

/**
 * Starts an engine that outlives this process. Resolves when it or another one serves the folder;
 * rejects with its reason.
 */
export async function startEngine(
  script: string,
  folder: string,
  tokenFile: string,
): Promise<void> {
  // The launcher's entry starts this process by `node -e`, so the options of Node are not those of
  // a script.
  const args = [script, 'engine', '--folder', folder, '--token-file', tokenFile];
  const options = {
    cwd: folder,
    detached: true,
    windowsHide: true,
  };
  const engine = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
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

export async function servedBy(tokenFile: string): Promise<ServedBy[]> {
  const found = await Promise.all(
    (await notedAddresses(tokenFile)).map((noted) => proven(tokenFile, noted)),
  );
  const gateways = found.filter((each) => each !== undefined);
  return await Promise.all(
    gateways.map(async (each) => ({ ...each, clients: await clientsOf(each) })),
  );
}

async function clientsOf({ port, token }: FoundGateway): Promise<ConnectedProgram[]> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    const listed = storedJson(
      await answerAt(port, programsPath, {
        clock: systemClock,
        longest: 1 << 20,
        headers,
      }),
    );
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
