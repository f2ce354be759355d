/**
 * `mcp-toolsets connect`: an MCP server over stdio for a client that can only start programs (G6). It joins the client to
 * the gateway that serves the folder, of an editor or of `serve`. Where there is none, or it was told what that gateway does
 * not know, it serves the folder itself, for this client alone, and ends with it. An agent starts it again and again, so that
 * nothing starts by it that the person did not approve elsewhere (S1).
 */
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../core/base/clock.js';
import { DisposableStore } from '../core/base/disposables.js';
import { nextEvent, untilAborted } from '../core/base/events.js';
import { Bridge } from '../core/bridge/bridge.js';
import type { GatewayAddress } from '../core/bridge/line.js';
import { builtInToolset } from '../core/config/model.js';
import { tokenFileOf } from '../core/files/tokenFile.js';
import { createGateway } from '../core/gateway/http/gateway.js';
import { version } from '../../package.json';
import { readConfigFiles } from './configFile.js';
import { foundGateway } from './foundGateway.js';
import { Interruption } from './interruption.js';
import { keptOffers } from './keptOffers.js';
import { complain } from './output.js';
import { problemLine } from './render.js';
import { withHost, type Run, type RunningHost } from './withHost.js';

export interface ConnectRequest {
  /** The toolset; all of them where it is undefined. */
  readonly toolset: string | undefined;
  /** The path, relative to where the command runs. */
  readonly tokenFile: string | undefined;
  /** As for `serve`. */
  readonly holdChanged: boolean;
}

export async function connect(run: Run, { toolset, tokenFile: given, holdChanged }: ConnectRequest): Promise<number> {
  const tokenFile = path.resolve(given ?? tokenFileOf(run.folder, homedir()));
  const interruption = new Interruption();
  const own = new OwnGateway(run, toolset, holdChanged);
  // What guards this client (S3, S4) would not hold in a process that was not told of it.
  const isAlone = run.permissions.hasOptions || holdChanged;
  const find = async (): Promise<GatewayAddress> => {
    const found = isAlone ? undefined : await foundGateway(tokenFile, onStranger);
    const base = found ? { url: urlOf(found.port), token: found.token } : await own.address();
    return { ...base, url: `${base.url}/mcp${toolset === undefined ? '' : `/${toolset}`}` };
  };
  const bridge = new Bridge({
    input: process.stdin,
    output: process.stdout,
    find,
    clock: systemClock,
    log: { write: (level, message) => run.debug && complain(`[${level}] ${message}`) },
    version,
  });
  await bridge.run(interruption.signal);
  await own.end();
  interruption.dispose();
  return 0;
}

const onStranger = (port: number): void =>
  void complain(
    `Another program listens on port ${port}. It does not know the token of this folder, so the token was not sent to it.`,
  );

const urlOf = (port: number): string => `http://127.0.0.1:${port}`;

/** A gateway over the folder in this process, from the moment when it is first asked for. */
class OwnGateway {
  private readonly ending = new AbortController();
  private serving: Promise<GatewayAddress> | undefined;
  private ended: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly run: Run,
    private readonly toolset: string | undefined,
    private readonly holdChanged: boolean,
  ) {}

  address(): Promise<GatewayAddress> {
    this.serving ??= this.begin();
    return this.serving;
  }

  async end(): Promise<void> {
    this.ending.abort();
    await this.ended;
  }

  private async begin(): Promise<GatewayAddress> {
    const { folder } = this.run;
    const { problems } = readConfigFiles(folder);
    if (problems.length > 0) throw new Error(problems.map(problemLine).join(' '));
    const offerReview = await keptOffers(this.holdChanged);
    return await new Promise((resolve, reject) => {
      this.ended = withHost(
        // The input is the client's, which must not answer a question itself.
        { ...this.run, asks: false, approve: false },
        async (running) => {
          resolve(await this.serve(running));
          await untilAborted(this.ending.signal);
          return 0;
        },
        {
          only: this.toolset === builtInToolset ? undefined : this.toolset,
          offerReview,
        },
      ).catch(reject);
    });
  }

  private async serve({ core, host, started, followConfig, closeFirst }: RunningHost): Promise<GatewayAddress> {
    const store = new DisposableStore('connect');
    const { backend, log, redactor } = core;
    const token = randomBytes(32).toString('base64url');
    redactor.register([token]);
    const gateway = createGateway({ backend, log, clock: systemClock, version, stable: { port: 0, token } });
    closeFirst(async () => {
      store.dispose();
      await gateway.dispose();
    });
    await gateway.start();
    followConfig(store);
    this.run.permissions.follow(host, store);
    const { toolset } = this;
    const isThere = (): boolean => toolset === undefined || host.catalogue.toolsets.some(({ id }) => id === toolset);
    if (!isThere()) await Promise.race([started, nextEvent(host.onDidChange, isThere, this.ending.signal)]);
    return { url: urlOf(gateway.port ?? 0), token };
  }
}
