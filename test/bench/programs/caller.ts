/**
 * The client that calls for P3 and P4, equal on every way to a server: the SDK's on stdio, or HTTP
 * in the editor's style.
 */
import { HttpClient, type ClientKind, type Endpoint, type Json } from '../harness/httpClient.js';
import { connectSdk, connectSdkByHttp, type Era } from '../harness/sdkClient.js';
import { now, serve } from '../harness/served.js';
import type { ServerCommand } from '../harness/servers.js';

interface Way {
  call(name: string, args: Json): Promise<Json>;
  list(): Promise<unknown>;
  close(): unknown;
}

interface Call {
  readonly way: string;
  readonly tool: string;
  readonly arguments: Json;
  readonly calls: number;
}

let quieten = (): Promise<{ calls: number; failures: string[] }> =>
  Promise.resolve({ calls: 0, failures: [] });

const ways = new Map<string, Way>();

function way(name: string): Way {
  const found = ways.get(name);
  if (!found) throw new Error(`There is no way ${name}.`);
  return found;
}

serve({
  async direct({ name, era = 'legacy', ...command }: ServerCommand & { name: string; era?: Era }) {
    ways.set(name, await connectSdk(era, command));
  },

  async http({
    name,
    endpoint,
    kind,
    era,
  }: {
    name: string;
    endpoint: Endpoint;
    kind: ClientKind;
    era?: Era;
  }) {
    if (kind === 'SDK') return void ways.set(name, await connectSdkByHttp(endpoint));
    const client = new HttpClient(endpoint, kind, era);
    if (era === 'modern') return void ways.set(name, client);
    await client.connect();
    await client.listen(() => {}).catch(() => false);
    ways.set(name, client);
  },

  /** The answer to one call, to check its kind. */
  async once({ way: name, tool, arguments: args }: Call) {
    return way(name).call(tool, args);
  },

  /** One call, with its times in the machine's milliseconds. */
  async timed({ way: name, tool, arguments: args }: Call) {
    const asked = now();
    const answer = await way(name).call(tool, args);
    return { asked, answered: now(), answer };
  },

  /** Calls one after the other, with lists between them, until `quiet`. Returns the errors. */
  traffic({ way: name, tool, arguments: args, list }: Call & { list: boolean }) {
    const running = { ended: false };
    const failures: string[] = [];
    let calls = 0;
    const lane = async (): Promise<void> => {
      while (!running.ended) {
        calls += 1;
        try {
          const answer = await way(name).call(tool, args);
          if (answer['isError'] === true) failures.push(JSON.stringify(answer));
          if (list && calls % 10 === 0) await way(name).list();
        } catch (error) {
          failures.push(String(error));
        }
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    const ended = lane();
    quieten = async () => {
      running.ended = true;
      await ended;
      return { calls, failures };
    };
  },

  quiet: () => quieten(),

  /** Milliseconds of each call, one after the other. */
  async latency({ way: name, tool, arguments: args, calls }: Call) {
    const { call } = bound(name);
    const took = new Float64Array(calls);
    for (let index = 0; index < calls; index++) {
      const begun = performance.now();
      await call(tool, args);
      took[index] = performance.now() - begun;
    }
    return took;
  },

  /** Calls a second with this number in flight, each by the next of these ways. */
  async rateOver({
    ways: names,
    tool,
    arguments: args,
    calls,
    inFlight,
  }: Call & { ways: string[]; inFlight: number }) {
    const all = names.map((name) => bound(name).call);
    let left = calls;
    const lane = async (): Promise<void> => {
      while (left-- > 0) await all[left % all.length]?.(tool, args);
    };
    const begun = performance.now();
    await Promise.all(Array.from({ length: inFlight }, lane));
    return (calls * 1000) / (performance.now() - begun);
  },

  /** Calls a second with this number in flight. */
  async rate({ way: name, tool, arguments: args, calls, inFlight }: Call & { inFlight: number }) {
    const { call } = bound(name);
    let left = calls;
    const lane = async (): Promise<void> => {
      while (left-- > 0) await call(tool, args);
    };
    const begun = performance.now();
    await Promise.all(Array.from({ length: inFlight }, lane));
    return (calls * 1000) / (performance.now() - begun);
  },

  async end() {
    await Promise.all([...ways.values()].map((each) => each.close()));
  },
});

function bound(name: string): Pick<Way, 'call'> {
  const found = way(name);
  return { call: (tool, args) => found.call(tool, args) };
}
