/** The product's own engine (host, connector, gateway), from the production build, as the editor's extension host runs it. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ClientKind } from '../../../src/core/protocol/client.js';
import type { GatewayEndpoint } from '../../../src/core/gateway/gateway.js';
import type * as engineModule from '../../../src/vscode/engine/engine.js';
import type { Clock } from '../../../src/core/base/clock.js';
import { cpuTime, readMemory } from '../harness/usage.js';
import { nextEvent } from '../../../src/core/base/events.js';
import { Secrets } from '../../support/core/person.js';
import { now, serve } from '../harness/served.js';

/** As `systemClock`, which the build keeps to itself. */
const clock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return { dispose: () => clearTimeout(timer) };
  },
};

const noted = (): Promise<void> => Promise.resolve();

interface Product {
  readonly engine: string;
  readonly guardian: string;
}

let engine: engineModule.Engine | undefined;

function create(product: Product): engineModule.Engine {
  const load = createRequire(__filename);
  const { createEngine } = load(product.engine) as typeof engineModule;
  return createEngine({
    clock,
    log: { write: () => {} },
    serverLog: () => ({ write: () => {} }),
    env: process.env,
    version: '0.0.0',
    guardianScript: product.guardian,
    filteredTools: () => 'information',
    trace: () => false,
    maxInstances: () => 64,
    // The secret storage and the ports of a window that is the only one of its folder.
    address: {
      workspace: process.cwd(),
      secrets: new Secrets(),
      ports: { get: () => undefined, update: noted },
    },
    results: {
      folder: join(dirname(product.guardian), 'artifacts'),
      quota: () => 200 * 1024 * 1024,
      maxResultBytes: () => 1024 * 1024,
    },
  });
}

function running(): engineModule.Engine {
  if (!engine) throw new Error('The engine is not started.');
  return engine;
}

function source(text: string): { file: string; folder: string; text: string } {
  return { file: `${process.cwd()}/.minds/mcp.yaml`, folder: process.cwd(), text };
}

/** Milliseconds from `from` until each of the servers publishes tools; settles when all do. */
function untilPublished(ids: readonly string[], from: number): Promise<Record<string, number>> {
  const { host } = running();
  const published: Record<string, number> = {};
  return new Promise((resolve) => {
    const look = (): void => {
      const at = now() - from;
      for (const { id, tools } of host.catalogue.toolsets) if (tools.length > 0) published[id] ??= at;
      if (ids.some((id) => published[id] === undefined)) return;
      subscription.dispose();
      resolve(published);
    };
    const subscription = host.onDidChangeCatalogue(look);
    look();
  });
}

serve({
  /** Everything that the extension does once it knows there is a config file; loading the engine is part of the time. */
  async start({ product, text, publishing }: { product: Product; text: string; publishing: string[] }) {
    const begun = now();
    engine = create(product);
    const loaded = now() - begun;
    const settled = engine.host.setSources([source(text)]).then(() => now() - begun);
    settled.catch(() => undefined);
    const published = await untilPublished(publishing, begun);
    return { loaded, published };
  },

  /** Resolves when every server has started or failed. */
  async apply({ text }: { text: string }) {
    await running().host.setSources([source(text)]);
  },

  /** Tells when an edit was handed over, and when the tools of `publishing` were there. */
  async edit({ text, publishing = [] }: { text: string; publishing?: string[] }) {
    const at = now();
    const settled = running().host.setSources([source(text)]);
    const applied = now();
    const published = await untilPublished(publishing, at);
    await settled;
    return { at, took: applied - at, published };
  },

  /** A call past the gateway, by a dialog of the bench's choice. */
  async call({ toolset, tool, dialog }: { toolset: string; tool: string; dialog: string }) {
    const { signal } = new AbortController();
    return running().host.call({ toolset, tool, arguments: {}, dialog, signal });
  },

  async endpoint({ id, kind }: { id: string; kind: ClientKind }): Promise<GatewayEndpoint> {
    const { editorEndpoint } = running();
    if (!editorEndpoint.gateway)
      await nextEvent(editorEndpoint.onDidChange, () => editorEndpoint.gateway !== undefined);
    if (!editorEndpoint.gateway) throw new Error('The gateway does not listen.');
    return editorEndpoint.gateway.endpoint(id, kind);
  },

  instances() {
    return running().host.snapshot.servers.flatMap(({ id, instances, state }) =>
      instances.map(({ pid }) => ({ server: id, pid, state: state.kind })),
    );
  },

  problems() {
    return running().host.snapshot.problems.map(({ code, message }) => `${code}: ${message}`);
  },

  cpu: cpuTime,
  memory: readMemory,

  async end() {
    await engine?.dispose();
  },
});
