/**
 * Clients that watch their toolsets like the editor: a session and a listening stream each, and a
 * list after each change.
 */
import { HttpClient, type Endpoint } from '../harness/httpClient.js';
import { now, serve } from '../harness/served.js';

interface Seen {
  /** The times of `list_changed` and of the new list, in the machine's milliseconds. */
  readonly told: number;
  readonly listed: number;
  readonly tools: number;
}

interface Watch {
  readonly client: HttpClient;
  /** Lists completed after a change, since the last request for them. */
  seen: Seen[];
}

const watches = new Map<string, Watch>();
let noticed = (): void => {};

serve({
  async watch({ toolset, endpoint }: { toolset: string; endpoint: Endpoint }) {
    const watch: Watch = { client: new HttpClient(endpoint, 'node:http'), seen: [] };
    watches.set(toolset, watch);
    await watch.client.connect();
    const isOpen = await watch.client.listen((message) => {
      if (message['method'] === 'notifications/tools/list_changed') void relist(watch);
    });
    if (!isOpen) throw new Error('There is no stream to listen to.');
    return toolsOf(watch);
  },

  /** Resolves when each of these has listed after a change. */
  async changes({ toolsets }: { toolsets: string[] }): Promise<Record<string, Seen>> {
    const wanted = toolsets.map((toolset) => watches.get(toolset));
    while (wanted.some((watch) => watch?.seen.length === 0))
      await new Promise<void>((resolve) => (noticed = resolve));
    return Object.fromEntries(
      toolsets.map((toolset) => [toolset, watches.get(toolset)?.seen.at(-1)] as [string, Seen]),
    );
  },

  /** Forgets the seen lists, and returns the number of unrequested changes. */
  forget() {
    let changes = 0;
    for (const watch of watches.values()) {
      changes += watch.seen.length;
      watch.seen = [];
    }
    return changes;
  },

  /** Milliseconds of one list. */
  async list({ toolset }: { toolset: string }) {
    const watch = watches.get(toolset);
    if (!watch) throw new Error(`Nobody watches ${toolset}.`);
    const begun = performance.now();
    const tools = await toolsOf(watch);
    return { took: performance.now() - begun, tools };
  },

  end() {
    for (const { client } of watches.values()) client.close();
  },
});

async function relist(watch: Watch): Promise<void> {
  const told = now();
  const tools = await toolsOf(watch);
  watch.seen.push({ told, listed: now(), tools });
  noticed();
}

async function toolsOf({ client }: Watch): Promise<number> {
  let tools = 0;
  let cursor: string | undefined;
  do {
    const page = (await client.ask('tools/list', cursor === undefined ? {} : { cursor })) as {
      tools: unknown[];
      nextCursor?: string;
    };
    tools += page.tools.length;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}
