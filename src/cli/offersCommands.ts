/** `mcp-toolsets resources`, `read`, `prompts` and `prompt`: the other parts of MCP servers (G4, H1). */
import { errorCodes } from '../core/protocol/errors.js';
import type { OtherOutcome } from '../core/protocol/request.js';
import type { Toolset } from '../core/tools/catalogue.js';
import { readObject } from './options.js';
import { complain, complainOf, complainOfOutcome, misuse, print, printBytes, printContent, toJson } from './output.js';
import { contentsOf, inOrder, isOfFile, messageTexts, promptsTable, resourcesTable } from './render.js';
import { withHost, type Run, type RunningHost } from './withHost.js';

export function resources(run: Run, id: string | undefined): Promise<number> {
  const json = ({ id, resources: { resources, templates } }: Toolset): object => ({ id, resources, templates });
  return list(run, id, json, resourcesTable);
}

export function prompts(run: Run, id: string | undefined): Promise<number> {
  const json = ({ id, prompts }: Toolset): object => ({
    id,
    prompts: prompts.map(({ published, original, prompt }) => ({ ...prompt, name: published, originalName: original })),
  });
  return list(run, id, json, promptsTable);
}

/** Servers use either code for an unknown resource. */
const unknownCodes: ReadonlySet<number> = new Set([errorCodes.resourceNotFound, errorCodes.invalidParams]);

/** @param server chooses one of several servers with the URI */
export function read(run: Run, uri: string | undefined, server: string | undefined): Promise<number> | number {
  if (uri === undefined) return misuse('The URI of a resource is missing.');
  return withHost(run, async (running) => {
    await running.started;
    const toolsets = among(running, server).filter(({ features }) => features.resources);
    const lists = ({ resources }: Toolset): boolean => resources.resources.some((each) => each.uri === uri);
    let last: OtherOutcome | undefined;
    // Servers that list it come first. Others may have it by a template or unlisted.
    for (const { id } of [...toolsets.filter(lists), ...toolsets.filter((toolset) => !lists(toolset))]) {
      const outcome = await request(running, id, 'resources/read', { uri });
      if (outcome.kind === 'error' && unknownCodes.has(outcome.code)) {
        last ??= outcome;
        continue;
      }
      if (outcome.kind !== 'result') return complainOfOutcome(outcome);
      if (run.json) return print(toJson(outcome.result));
      let code = 0;
      for (const content of contentsOf(outcome.result)) {
        code = Math.max(code, typeof content === 'string' ? printContent(content) : printBytes(content));
      }
      return code;
    }
    if (last?.kind === 'error' && toolsets.some(lists)) return complainOfOutcome(last);
    return nothing(running, `No server has a resource "${uri}". \`mcp-toolsets resources\` lists all resources.`);
  });
}

export function prompt(
  run: Run,
  name: string | undefined,
  json: string | undefined,
  server: string | undefined,
): Promise<number> | number {
  if (name === undefined) return misuse('The name of a prompt is missing.');
  const given = readObject('The arguments', json ?? '{}');
  if (typeof given === 'string') return misuse(given);
  return withHost(run, async (running) => {
    await running.started;
    const holders = among(running, server).filter((toolset) =>
      toolset.prompts.some(({ published }) => published === name),
    );
    const [holder, ...others] = holders;
    if (!holder) {
      return nothing(running, `No server has a prompt "${name}". \`mcp-toolsets prompts\` lists all prompts.`);
    }
    if (others.length > 0) {
      const ids = holders.map(({ id }) => id).join(', ');
      return complain(`Several servers have a prompt "${name}": ${ids}. Choose one with --server.`);
    }
    const outcome = await request(running, holder.id, 'prompts/get', { name, arguments: given });
    if (outcome.kind !== 'result') return complainOfOutcome(outcome);
    if (run.json) return print(toJson(outcome.result));
    for (const text of messageTexts(outcome.result)) printContent(text);
    return 0;
  });
}

function list(
  run: Run,
  id: string | undefined,
  json: (toolset: Toolset) => object,
  table: (toolsets: readonly Toolset[]) => string,
): Promise<number> {
  return withHost(run, async (running) => {
    await running.started;
    if (running.signal.aborted) return 1;
    const { snapshot } = running.host;
    const found = snapshot.problems.filter(({ server }) => id === undefined || server === undefined || server === id);
    complainOf(found.filter(({ severity }) => severity === 'error'));
    if (id !== undefined && !snapshot.servers.some((server) => server.id === id)) {
      return complain(`There is no server "${id}".`);
    }
    const toolsets = among(running, id);
    print(run.json ? toJson(toolsets.map(json)) : table(toolsets));
    return snapshot.problems.some(isOfFile) ? 1 : 0;
  });
}

/** Returns the toolsets of servers, without the built-in one, which has only tools. */
function among({ host }: RunningHost, server: string | undefined): readonly Toolset[] {
  const ids = host.snapshot.servers.map(({ id }) => id).filter((id) => server === undefined || id === server);
  return host.catalogue.toolsets.filter(({ id }) => ids.includes(id));
}

function request(
  { core, signal, client }: RunningHost,
  toolset: string,
  method: string,
  params: object,
): Promise<OtherOutcome> {
  return core.backend.request({ toolset, method, params: { ...params }, conversation: 'command line', signal, client });
}

function nothing({ host, signal }: RunningHost, why: string): number {
  if (signal.aborted) return 1;
  complainOf(inOrder(host.snapshot.problems));
  return complain(why);
}
