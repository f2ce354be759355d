/**
 * Joins REST to the host and the config file (G7). Invariants: a server is added only by an edit of
 * the file, so that approval works as for any edit (S1); one edit at a time; a file with a foreign
 * change is not written; no answer contains a value of `env` or `headers`.
 */
import { markedAs, withoutMark } from '../base/byteOrderMark.js';
import type { ConfigFileAccess } from '../files/configFile.js';
import { addServers, type NewEntry } from '../config/edit/addServers.js';
import { applyEdits } from '../yaml/edits.js';
import { validateId } from '../config/edit/newServer.js';
import { parseMindsFile } from '../config/read/parse.js';
import { serverIds } from '../config/edit/serverEdits.js';
import { delay, type Clock } from '../base/clock.js';
import { nextEvent } from '../base/events.js';
import { isObject } from '../base/isObject.js';
import type { Problem } from '../base/problem.js';
import type { ProblemCode } from '../base/problemCatalogue.js';
import { FileRefused } from '../base/textFile.js';
import { restError, type RestAnswer, type RestBackend } from '../gateway/http/rest.js';
import type { Published, Servers } from '../calling/hostContract.js';
import type { ServerStatus } from '../reconcile/status.js';
import { toolsetIn } from '../tools/catalogue.js';

/** The limit in milliseconds until the host has read the file. */
const patience = 5_000;
/** Problems outside the entry, which a person can mend later. */
const mendedElsewhere: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'env-unset',
  'secret-unset',
  'cwd-missing',
]);

type UrlOf = (toolset: string) => string;

/** @param config returns the present file; undefined if there is none to write */
export function createRestBackend(
  host: Published & Servers,
  clock: Clock,
  config: () => ConfigFileAccess | undefined,
): RestBackend {
  let last: Promise<unknown> = Promise.resolve();
  const find = (id: string): ServerStatus | undefined =>
    host.snapshot.servers.find((server) => server.id === id);
  return {
    upstreams: (urlOf) => host.snapshot.servers.map((server) => described(host, server, urlOf)),
    upstream: (id, urlOf) => {
      const server = find(id);
      return server && described(host, server, urlOf);
    },
    tools: (id) => {
      const toolset = toolsetIn(host.catalogue, id);
      if (!toolset) return notServed(id, find(id), host.snapshot.problems);
      const tools = toolset.tools.map((one) => ({
        ...one.tool,
        name: one.published,
        originalName: one.original,
      }));
      return {
        kind: 'value',
        status: 200,
        value: { tools },
      };
    },
    add: (body, urlOf) => {
      const added = last.then(() => add(body, urlOf));
      last = added.catch(() => undefined);
      return added;
    },
  };

  async function add(body: unknown, urlOf: UrlOf): Promise<RestAnswer> {
    const read = newServerOf(body);
    if (read.kind === 'error') return read;
    const { id, entry } = read;
    const file = config();
    if (!file) return restError(409, 'no-folder', 'No folder is open, so no server can be added.');
    const before = await file.read().catch((error: unknown) => {
      if (error instanceof FileRefused) return restError(409, 'config-has-errors', error.message);
      throw error;
    });
    if (typeof before === 'object') return before;
    const text = before && withoutMark(before);
    const taken = new Set([
      ...serverIds(text ?? ''),
      ...host.snapshot.servers.map((server) => server.id),
    ]);
    if (taken.has(id)) return restError(409, 'id-taken', `There is already a server "${id}".`);
    const wrongId = validateId(id, taken);
    if (wrongId !== undefined) return restError(400, 'id-invalid', wrongId);
    const edits = addServers(text, [{ id, entry }]);
    const after = edits && applyEdits(text ?? '', edits);
    const configDeps = { env: {}, directoryExists: (): boolean => true };
    const parsed =
      after === undefined ? undefined : parseMindsFile({ ...file, text: after }, configDeps);
    if (after === undefined || parsed?.kind !== 'accepted')
      return restError(409, 'config-has-errors', 'The config file has errors. Correct them first.');
    const own = parsed.problems.filter(
      ({ server, code }) => server === id && !mendedElsewhere.has(code),
    );
    const wrong = own.find(({ severity }) => severity === 'error');
    if (wrong) return restError(422, wrong.code, `${wrong.message} ${wrong.fix}`);
    const outside = file.outside();
    if (outside !== undefined) return restError(409, 'config-outside', outside);
    const blocked = file.blocked();
    if (blocked !== undefined) return restError(409, 'config-unsaved', blocked);
    if ((await file.read()) !== before)
      return restError(409, 'config-changed', 'The config file changed. Try again.');
    file.write({ before: before ?? '', after: markedAs(before, after) });
    const server = await whenKnown(id);
    const upstream = server ? described(host, server, urlOf) : { id, state: 'written' };
    return {
      kind: 'value',
      status: 201,
      value: { upstream },
    };
  }

  async function whenKnown(id: string): Promise<ServerStatus | undefined> {
    const waiting = new AbortController();
    const known = nextEvent(host.onDidChange, () => find(id) !== undefined, waiting.signal).catch(
      () => undefined,
    );
    if (!find(id))
      await Promise.race([known, delay(clock, patience, waiting.signal).catch(() => undefined)]);
    waiting.abort();
    return find(id);
  }
}

function described(
  { catalogue, snapshot }: Published & Servers,
  server: ServerStatus,
  urlOf: UrlOf,
): unknown {
  const { id, source, transport, state, approval, previous, offered } = server;
  const toolset = toolsetIn(catalogue, id);
  // Nobody can approve a mistake, and nobody approved it before.
  const isUnknown = state.kind === 'invalid' && !previous;
  return {
    id,
    source,
    transport: transport ?? null,
    state: state.kind,
    approval: isUnknown ? null : approval.kind === 'pending' ? 'pending' : 'given',
    previous: previous
      ? { since: new Date(previous.since).toISOString(), reason: previous.reason }
      : null,
    tools: { published: toolset?.tools.length ?? 0, offered },
    url: toolset ? urlOf(id) : null,
    problems: snapshot.problems
      .filter((problem) => problem.server === id)
      .map(({ code, severity, message, fix }) => ({ code, severity, message, fix })),
  };
}

function notServed(
  id: string,
  server: ServerStatus | undefined,
  problems: readonly Problem[],
): RestAnswer {
  const state = server?.state.kind ?? 'unknown';
  if (server?.approval.kind === 'pending')
    return restError(
      409,
      'approval-pending',
      `"${id}" waits for approval by a person before it starts.`,
    );
  const wrong = problems.find((problem) => problem.server === id && problem.severity === 'error');
  return wrong
    ? restError(409, wrong.code, `${wrong.message} ${wrong.fix}`)
    : restError(409, 'not-served', `"${id}" publishes no tools now; its state is ${state}.`);
}

function newServerOf(body: unknown):
  | {
      kind: 'new';
      id: string;
      entry: NewEntry;
    }
  | Extract<RestAnswer, { kind: 'error' }> {
  if (!isObject(body))
    return restError(
      400,
      'not-an-object',
      'The body must be an object with an `id` and the keys of a server.',
    );
  const { id, ...entry } = body;
  if (typeof id !== 'string')
    return restError(400, 'id-missing', 'The body has no `id`, or its `id` is not a string.');
  if (isEntry(entry))
    return {
      kind: 'new',
      id,
      entry,
    };
  const why =
    'A config file has no null values and no infinite numbers, and its values may not nest deeper than 8 levels.';
  return restError(400, 'value-unusable', why);
}

function isEntry(value: object | null, depth = 8): value is NewEntry {
  if (value === null || depth === 0) return false;
  return Object.values(value).every((item: unknown) =>
    typeof item === 'object'
      ? isEntry(item, depth - 1)
      : typeof item !== 'number' || Number.isFinite(item),
  );
}
