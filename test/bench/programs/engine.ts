/**
 * The product's own engine (host, connector, gateway) from the production build, as in the editor's
 * extension host.
 */
import { threadTime } from '../../support/core/threadTime.js';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { noClient } from '../../../src/core/protocol/client.js';
import type { GatewayEndpoint } from '../../../src/core/gateway/http/gateway.js';
import type * as engineModule from '../../../src/vscode/engine/engine.js';
import type { Clock } from '../../../src/core/base/clock.js';
import { cpuTime, readMemory } from '../harness/usage.js';
import { nextEvent } from '../../../src/core/base/events.js';
import { hadConversations } from '../../support/core/hadConversations.js';
import { CallFile } from '../../../src/core/files/callWriter.js';
import type * as offerFilesModule from '../../../src/core/remembered/offerFiles.js';
import { Secrets } from '../../support/core/person.js';
import type { EndpointRoad } from '../harness/endpoint.js';
import { now, serve } from '../harness/served.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

/** Same as `systemClock`, which the build does not export. */
const clock: Clock = {
  now: () => Date.now(),
  awake: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return { dispose: () => clearTimeout(timer) };
  },
};

interface Product {
  readonly engine: string;
  readonly offerFiles: string;
  readonly guardian: string;
}

let engine: engineModule.WindowEngine | undefined;
let record: CallFile | undefined;

interface Start {
  readonly product: Product;
  readonly text: string;
  /** The servers whose tools are awaited. */
  readonly publishing: string[];
  /** A folder that keeps the lists of servers for the next window. If absent, none are kept. */
  readonly kept?: string;
  /** The number of conversations of each server in this workspace. */
  readonly conversations?: Readonly<Record<string, number>>;
  /** The file of the record of calls. By default it has none. */
  readonly record?: string;
}

/** Reads the data of earlier windows while the engine loads, like the extension. */
async function create({ product, kept, conversations }: Start): Promise<engineModule.WindowEngine> {
  const load = createRequire(__filename);
  // As part of the product, it shares with the engine what it has found out about the tools.
  const reading =
    kept === undefined
      ? undefined
      : (load(product.offerFiles) as typeof offerFilesModule).OfferFiles.open(kept, fail);
  const { WindowEngine } = load(product.engine) as typeof engineModule;
  const offers = await reading;
  return new WindowEngine({
    surroundings: {
      clock,
      log: { write: () => {} },
      serverLog: () => ({ write: () => {} }),
      env: process.env,
      version: '0.0.0',
      guardianScript: product.guardian,
    },
    settings: {
      filteredTools: () => 'information',
      trace: () => false,
      maxInstances: () => 128,
      recordsCalls: () => record !== undefined,
    },
    stores: {
      ...(offers && { kept: offers }),
      ...(conversations && { conversations: hadConversations(conversations) }),
    },
    editor: { expected: () => noClient, note: () => {} },
    folder: undefined,
    home: homedir(),
    onFailure: { config: fail, record: fail },
    // The secret storage of the only window of its folder.
    address: { workspace: process.cwd(), secrets: new Secrets() },
    results: {
      folder: join(dirname(product.guardian), 'artifacts'),
      quota: () => 200 * 1024 * 1024,
      maxResultBytes: () => 1024 * 1024,
    },
  });
}

function fail(error: unknown): void {
  throw error;
}

function running(): engineModule.WindowEngine {
  if (!engine) throw new Error('The engine is not started.');
  return engine;
}

function source(text: string): { file: string; folder: string; text: string } {
  return { file: `${process.cwd()}/.minds/mcp.yaml`, folder: process.cwd(), text };
}

/** Milliseconds from `from` until each of the servers publishes tools. Settles when all do. */
function untilPublished(ids: readonly string[], from: number): Promise<Record<string, number>> {
  const { host } = running();
  const published: Record<string, number> = {};
  return new Promise((resolve) => {
    const look = (): void => {
      const at = now() - from;
      for (const { id, tools } of host.catalogue.toolsets)
        if (tools.length > 0) published[id] ??= at;
      if (ids.some((id) => published[id] === undefined)) return;
      subscription.dispose();
      resolve(published);
    };
    const subscription = host.onDidPublish(look);
    look();
  });
}

const watchMs = 5;
let watching: NodeJS.Timeout | undefined;
let held = 0;

function heldUp(): number {
  clearInterval(watching);
  return Math.max(0, held);
}

serve({
  /**
   * Does the extension's whole work for a known config file. The time includes loading the engine.
   */
  async start(given: Start) {
    const { text, publishing } = given;
    const begun = now();
    engine = await create(given);
    // It is written on request, because it would otherwise fall into the turn of another.
    if (given.record)
      record = new CallFile(given.record, { ...clock, after: () => ({ dispose: () => {} }) }, fail);
    engine.recorder.onDidRecord((lines) => record?.note(lines));
    const loaded = now() - begun;
    const settled = engine.host.setSources([source(text)]).then(() => now() - begun);
    settled.catch(() => undefined);
    const published = await untilPublished(publishing, begun);
    return { loaded, published };
  },

  /** Microseconds of processor time. */
  async writeFacts() {
    const before = cpuTime();
    await record?.flush();
    return cpuTime() - before;
  },

  /** Resolves when every server has started or failed. */
  async apply({ text }: { text: string }) {
    await running().host.setSources([source(text)]);
  },

  /** Returns the time of the edit, and the time when the tools of `publishing` were there. */
  async edit({ text, publishing = [] }: { text: string; publishing?: string[] }) {
    const at = now();
    const settled = running().host.setSources([source(text)]);
    const applied = now();
    const published = await untilPublished(publishing, at);
    await settled;
    return { at, took: applied - at, published };
  },

  /** A call past the gateway, by a conversation of the bench's choice. */
  async call({
    toolset,
    tool,
    conversation,
  }: {
    toolset: string;
    tool: string;
    conversation: string;
  }) {
    const { signal } = new AbortController();
    return running().host.call({
      policy: policies.agent,
      toolset,
      tool,
      arguments: {},
      conversation,
      signal,
    });
  },

  async endpoint({ id, road }: { id: string; road: EndpointRoad }): Promise<GatewayEndpoint> {
    const { editorEndpoint } = running();
    if (!editorEndpoint.gateway)
      await nextEvent(editorEndpoint.onDidChange, () => editorEndpoint.gateway !== undefined);
    if (!editorEndpoint.gateway) throw new Error('The gateway does not listen.');
    return editorEndpoint.gateway.endpoint(id, road);
  },

  /** Resolves when an instance waits for the next conversation. */
  async untilSpare() {
    const { host } = running();
    const isThere = (): boolean =>
      host.snapshot.servers.some(({ instances }) =>
        instances.some(({ use }) => use.kind === 'spare'),
      );
    if (!isThere()) await nextEvent(host.onDidChange, isThere);
  },

  /** Milliseconds of one call past the gateway. */
  async timedCall({
    toolset,
    tool,
    conversation,
  }: {
    toolset: string;
    tool: string;
    conversation: string;
  }) {
    const begun = performance.now();
    const outcome = await running().host.call({
      policy: policies.agent,
      toolset,
      tool,
      arguments: {},
      conversation,
      signal: new AbortController().signal,
    });
    if (outcome.kind !== 'result' || outcome.result.isError)
      throw new Error(JSON.stringify(outcome));
    return performance.now() - begun;
  },

  instances() {
    return running().host.snapshot.servers.flatMap(({ id, instances, state }) =>
      instances.map(({ pid }) => ({ server: id, pid, state: state.kind })),
    );
  },

  problems() {
    return running().host.snapshot.problems.map(({ code, message }) => `${code}: ${message}`);
  },

  /** Measures from now on how long the event loop is held up. */
  watchLoop() {
    heldUp();
    let [at, had] = [performance.now(), threadTime()];
    held = 0;
    watching = setInterval(() => {
      held = Math.max(held, Math.min(performance.now() - at - watchMs, threadTime() - had));
      [at, had] = [performance.now(), threadTime()];
    }, watchMs);
  },

  /** Returns the longest hold-up since then, in milliseconds of the thread's processor time. */
  heldUp,

  /** With the record of the calls until now, which would otherwise fall into the next turn. */
  cpu() {
    running().recorder.flush();
    return cpuTime();
  },
  memory: readMemory,

  async end() {
    await engine?.dispose();
  },
});
