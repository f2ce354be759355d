/**
 * `mcp-toolsets tools`, `call`, `resources`, `read`, `prompts` and `prompt`: what servers offer
 * (G4, H1).
 */
import { nearest } from '../core/base/nearest.js';
import { nextEvent } from '../core/base/events.js';
import { errorCodes } from '../core/protocol/errors.js';
import { expectedClient, noClient, type Fields } from '../core/protocol/client.js';
import { policies } from '../core/protocol/clientPolicy.js';
import type { OtherOutcome, Outcome, ToolsetRequest } from '../core/protocol/request.js';
import { holdersOf } from '../core/catalogue/servedToolsets.js';
import { explain } from '../core/catalogue/explain.js';
import type { ServerStatus } from '../core/reconcile/status.js';
import type { Toolset } from '../core/tools/catalogue.js';
import { readObject, type Options, type Words } from './options.js';
import {
  complain,
  complainLines,
  complainOf,
  misuse,
  print,
  printBytes,
  printContent,
  toJson,
} from './output.js';
import {
  contentsOf,
  inOrder,
  isBroken,
  isOfFile,
  messageTexts,
  promptsTable,
  resourcesTable,
  resultTexts,
  toolsJson,
  toolsTable,
  localLines,
} from './render.js';
import { withEngine, withServers, type Run, type RunningEngine } from './withEngine.js';
import { withSnapshot } from './withSnapshot.js';

/** A server without tools because of an error is an error only if it is named. */
export function tools(run: Run, words: Words, options: Options): Promise<number> | number {
  if (options.write || options.local) return misuse('--write and --local need --use.');
  return list(run, words, options, (servers, id) => ({
    json: servers.map(toolsJson),
    table: [toolsTable(servers), ...localLines({ servers })].join('\n'),
    isFailure: id !== undefined && servers.some(isBroken),
  }));
}

export function resources(run: Run, words: Words, options: Options): Promise<number> {
  return list(run, words, options, (servers) => ({
    json: published(servers).map(({ id, resources: { resources, templates } }) => ({
      id,
      resources,
      templates,
    })),
    table: resourcesTable(servers),
  }));
}

export function prompts(run: Run, words: Words, options: Options): Promise<number> {
  type Prompt = Toolset['prompts'][number];
  const named = (one: Prompt): object => ({
    ...one.prompt,
    name: one.published,
    originalName: one.original,
  });
  return list(run, words, options, (servers) => ({
    json: published(servers).map(({ id, prompts }) => ({ id, prompts: prompts.map(named) })),
    table: promptsTable(servers),
  }));
}

type Listed = Readonly<{
  json: readonly object[];
  table: string;
  isFailure?: boolean;
}>;
type Lists = (servers: readonly ServerStatus[], id: string | undefined) => Listed;

function published(servers: readonly ServerStatus[]): readonly ServerStatus[] {
  return servers.filter(({ isPublished }) => isPublished);
}

function list(run: Run, [id]: Words, options: Options, of: Lists): Promise<number> {
  return withSnapshot(run, options, ({ servers, problems }) => {
    const wanted = servers.filter((server) => id === undefined || server.id === id);
    const isWanted = (server: string | undefined): boolean =>
      server === undefined || wanted.some(({ id }) => id === server);
    complainOf(problems.filter(({ server, severity }) => severity === 'error' && isWanted(server)));
    if (id !== undefined && wanted.length === 0) return complain(`There is no server "${id}".`);
    const { json, table, isFailure } = of(wanted, id);
    print(run.json ? toJson(json) : table);
    // A server without approval could have offered more.
    const isShort = wanted.some(({ state }) => state.kind === 'pending');
    return problems.some(isOfFile) || isFailure || isShort ? 1 : 0;
  });
}

/** Servers use either code for an unknown resource. */
const unknownCodes: ReadonlySet<number> = new Set([
  errorCodes.resourceNotFound,
  errorCodes.invalidParams,
]);

export function read(run: Run, [uri = '']: Words, { server }: Options): Promise<number> {
  return withServers(run, async (running) => {
    const asked = { method: 'resources/read', params: { uri } };
    const named = among(running, server).filter(({ features }) => features.resources);
    const toolsets = server === undefined ? holdersOf(running.host.catalogue, asked) : named;
    const lists = ({ resources }: Toolset): boolean =>
      resources.resources.some((each) => each.uri === uri);
    const put = (one: string | Buffer): number =>
      typeof one === 'string' ? printContent(one) : printBytes(one);
    const show = (result: Fields): number => (contentsOf(result).map(put).includes(1) ? 1 : 0);
    let last: OtherOutcome | undefined;
    for (const { id } of toolsets) {
      const outcome = await request(running, { toolset: id, ...asked });
      if (outcome.kind !== 'error' || !unknownCodes.has(outcome.code))
        return answer(run, outcome, show);
      last ??= outcome;
    }
    if (last && toolsets.some(lists)) return answer(run, last, show);
    return missing(running, 'resource', uri, server);
  });
}

export function prompt(
  run: Run,
  [name = '', json = '{}']: Words,
  { server }: Options,
): Promise<number> | number {
  const given = readObject('The arguments', json);
  if (typeof given === 'string') return misuse(given);
  return withServers(run, async (running) => {
    const holders = among(running, server).filter(({ prompts }) =>
      prompts.some(({ published }) => published === name),
    );
    const [holder, ...others] = holders;
    if (!holder) return missing(running, 'prompt', name, server);
    if (others.length > 0) {
      const ids = holders.map(({ id }) => id).join(', ');
      return complain(`Several servers have a prompt "${name}": ${ids}. Choose one with --server.`);
    }
    const params = { name, arguments: given };
    const outcome = await request(running, {
      toolset: holder.id,
      method: 'prompts/get',
      params,
    });
    return answer(run, outcome, (result) => messageTexts(result).forEach(printContent));
  });
}

/** A name belongs to the first server with it (N5b), so no call waits for later servers. */
export function call(
  run: Run,
  [tool = '', json = '{}']: Words,
  options: Options,
): Promise<number> | number {
  const args = readObject('The arguments', json);
  if (typeof args === 'string') return misuse(args);
  const answers =
    options.answers === undefined ? undefined : readObject('The answers', options.answers);
  if (typeof answers === 'string') return misuse(answers);
  return withEngine({ ...run, answers }, async (running) => {
    const { host, start, signal, client } = running;
    const holder = (): Toolset | undefined =>
      host.catalogue.toolsets.find(({ tools }) =>
        tools.some(({ published }) => published === tool),
      );
    const isDecided = (): boolean => {
      const { servers } = host.snapshot;
      const place = servers.findIndex(({ id }) => id === holder()?.id);
      // The built-in toolset acts on all servers, so it waits for all of them.
      return place >= 0 && servers.slice(0, place).every(({ state }) => state.kind !== 'starting');
    };
    const started = start();
    if (!isDecided()) await Promise.race([started, nextEvent(host.onDidChange, isDecided)]);
    if (signal.aborted) return 1;
    const toolset = holder()?.id;
    if (toolset === undefined) {
      const hint = '`mcp-toolsets tools` lists the published tools.';
      const why = whyNotPublished(tool, host);
      return nothing(running, `No toolset publishes a tool "${tool}".${why} ${hint}`);
    }
    const outcome = await host.call({
      toolset,
      tool,
      arguments: args,
      conversation,
      policy: policies.command,
      signal,
      client,
      onProgress: ({ progress, total, message }) =>
        complain(
          `${progress}${total === undefined ? '' : ` of ${total}`}${message ? ` ${message}` : ''}`,
        ),
    });
    const code = answer(run, outcome, (result, { unanswered }) =>
      resultTexts(result).forEach(unanswered ? complainLines : printContent),
    );
    return outcome.kind === 'result' && outcome.result.isError === true ? 1 : code;
  });
}

function whyNotPublished(tool: string, { snapshot, catalogue }: RunningEngine['host']): string {
  const [known] = explain(tool, snapshot, []).tools;
  const road = known?.roads.find(({ road }) => road === 'other agents');
  if (road?.offered === false) return ` Agents do not get it: ${road.why}. ${road.fix}`;
  const names = catalogue.toolsets.flatMap(({ tools }) => tools.map(({ published }) => published));
  const meant = road?.name ?? nearest(tool, names);
  return meant === undefined ? '' : ` Did you mean "${meant}"?`;
}

/** Its first eight characters are what people read of it. */
const conversation = 'terminal';

/** Returns the toolsets of servers, without the built-in one, which has only tools. */
function among({ host }: RunningEngine, server: string | undefined): readonly Toolset[] {
  const isServer = (toolset: Toolset): boolean =>
    host.snapshot.servers.some(({ id }) => id === toolset.id && id === (server ?? id));
  return host.catalogue.toolsets.filter(isServer);
}

type Asked = Pick<ToolsetRequest, 'toolset' | 'method' | 'params'>;

function request({ engine, signal }: RunningEngine, asked: Asked): Promise<OtherOutcome> {
  return engine.backend.request({
    ...asked,
    conversation,
    signal,
    client: { ...expectedClient(noClient), program: 'mcp-toolsets' },
  });
}

function answer<Result, More extends object>(
  { json }: Run,
  outcome: Outcome<Result, More>,
  show: (result: Result, outcome: More) => number | void,
): number {
  if (outcome.kind === 'cancelled') return complain('Cancelled.');
  if (outcome.kind === 'error')
    return complain(`The server answered with error ${outcome.code}: ${outcome.message}`);
  return (json ? print(toJson(outcome.result)) : show(outcome.result, outcome)) ?? 0;
}

function missing(running: RunningEngine, what: string, name: string, server = ''): number {
  const isKnown = running.host.snapshot.servers.some(({ id }) => id === server);
  if (server !== '' && !isKnown) return nothing(running, `There is no server "${server}".`);
  const who = isKnown ? `"${server}" has no` : 'No server has a';
  return nothing(
    running,
    `${who} ${what} "${name}". \`mcp-toolsets ${what}s\` lists all ${what}s.`,
  );
}

function nothing({ host, signal }: RunningEngine, why: string): number {
  if (signal.aborted) return 1;
  complainOf(inOrder(host.snapshot.problems).filter(({ severity }) => severity === 'error'));
  return complain(why);
}
