/** `mcp-toolsets call`. A name belongs to the first server with it (N5), so the call does not wait for later servers. */
import { oneLine } from '../core/base/inert.js';
import type { Host } from '../core/host/hostContract.js';
import type { Toolset } from '../core/tools/catalogue.js';
import { readObject } from './options.js';
import {
  complain,
  complainLines,
  complainOf,
  complainOfOutcome,
  misuse,
  print,
  printContent,
  toJson,
} from './output.js';
import { inOrder, resultTexts } from './render.js';
import { withHost, type Run } from './withHost.js';

export async function call(
  run: Run,
  tool: string | undefined,
  json: string | undefined,
  answersJson: string | undefined,
): Promise<number> {
  if (tool === undefined) return misuse('The name of a tool is missing.');
  const args = readObject('The arguments', json ?? '{}');
  const answers = answersJson === undefined ? undefined : readObject('The answers', answersJson);
  for (const read of [args, answers]) if (typeof read === 'string') return misuse(read);
  if (typeof args === 'string' || typeof answers === 'string') return 2;
  return withHost({ ...run, answers }, async ({ host, started, signal, client }) => {
    const toolset = await untilCallable(host, tool, started);
    if (signal.aborted) return 1;
    if (!toolset) {
      complainOf(inOrder(host.snapshot.problems));
      return complain(`No toolset publishes a tool "${tool}". \`mcp-toolsets tools\` lists the published tools.`);
    }
    const outcome = await host.call({
      toolset: toolset.id,
      tool,
      arguments: args,
      conversation: 'command line',
      agent: 'mcp-toolsets call',
      signal,
      client,
      onProgress: ({ progress, total, message }) =>
        complain(`${progress}${total === undefined ? '' : ` of ${total}`}${message ? ` ${oneLine(message)}` : ''}`),
    });
    if (outcome.kind !== 'result') return complainOfOutcome(outcome);
    const { result } = outcome;
    if (run.json) print(toJson(result));
    else for (const text of resultTexts(result)) (outcome.unanswered ? complainLines : printContent)(text);
    return result.isError === true ? 1 : 0;
  });
}

/** Resolves to the tool's toolset as soon as it is final, or to undefined if all servers have started without the tool. */
async function untilCallable(host: Host, tool: string, started: Promise<void>): Promise<Toolset | undefined> {
  await new Promise<void>((resolve, reject) => {
    const look = (): void => {
      if (isDecided(host, tool)) resolve();
    };
    host.onDidChange(look);
    started.then(resolve, reject);
    look();
  });
  return toolsetOf(host, tool);
}

function toolsetOf(host: Host, tool: string): Toolset | undefined {
  return host.catalogue.toolsets.find(({ tools }) => tools.some(({ published }) => published === tool));
}

function isDecided(host: Host, tool: string): boolean {
  const toolset = toolsetOf(host, tool);
  const { servers } = host.snapshot;
  const place = servers.findIndex(({ id }) => id === toolset?.id);
  // The built-in toolset acts on all servers, so it waits for all of them.
  return place >= 0 && servers.slice(0, place).every(({ state }) => state.kind !== 'starting');
}
