/**
 * The gateway answers lists, an instance the rest, in any order, because the editor sends messages
 * in parallel.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { withoutToken, withScript } from '../../apps/editorApps.js';
import { isObject } from '../../base/isObject.js';
import { asText } from '../../base/text.js';
import { inTurns, LoopShare } from '../../base/turns.js';
import type { ClientKind, Fields } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import { isRequestId } from '../../protocol/jsonRpc.js';
import {
  isLogLevel,
  metaOf,
  modernVersion,
  knowsTasks,
  resultOfTask,
  taskIn,
  taskMethods,
  tasksNotDeclared,
} from '../../protocol/versions.js';
import type { Destination, OtherOutcome, ToolOutcome } from '../../protocol/request.js';
import { isLarge, jsonOf } from '../../base/jsonInSlices.js';
import type { ArtifactOrigin } from '../../results/artifacts.js';
import { withoutDataUrls } from '../../results/binaries.js';
import type { Delivery } from '../../results/delivery.js';
import { withNotes } from '../../results/forEditor.js';
import type { ServerFeatures } from '../../tools/features.js';
import type { ServedToolset } from '../backend.js';
import {
  CallClient,
  cancelCall,
  type Client,
  conversationOf,
} from '../conversations/conversation.js';
import type { ListName, Topic } from '../conversations/listings.js';
import type { Session } from '../conversations/session.js';
import { enveloped, otherResult, toolResult } from '../dialect.js';
import { forward, invalidParams, refusal, withoutCarriage } from './requests.js';
import type { Answer, MethodDeps, RequestContext } from './requests.js';

type Method = (params: Fields, context: RequestContext) => Answer;

type Check = (params: Fields) => string | undefined;

/**
 * A toolset that may get another server declares everything, so `list_changed` is enough to report
 * a gain.
 */
export function capabilitiesOf({
  features,
  canGain,
}: Pick<ServedToolset, 'features' | 'canGain'>): Fields {
  const has = (feature: Exclude<keyof ServerFeatures, 'extensions'>): boolean =>
    canGain === true || features[feature];
  return {
    tools: { listChanged: true },
    ...(has('prompts') && { prompts: { listChanged: true } }),
    ...(has('resources') && {
      resources: { ...(has('subscribe') && { subscribe: true }), listChanged: true },
    }),
    ...(has('completions') && { completions: {} }),
    ...(has('logging') && { logging: {} }),
  };
}

const unknownMethod = refusal(errorCodes.methodNotFound, 'Unknown method.');
const notReported = 'The server of this toolset does not report updates of resources.';
const noUpdates = (): Answer => refusal(errorCodes.methodNotFound, notReported);
const empty: Answer = { kind: 'result', json: '{}' };
const emptyCompletion = { completion: { values: [] } };
const noCompletions: Answer = { kind: 'result', json: JSON.stringify(emptyCompletion) };

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['ping', () => empty],
  ['logging/setLevel', setLevel],
  [
    'initialize',
    () => refusal(errorCodes.invalidRequest, '`initialize` must be first and not in a batch.'),
  ],
  ['tools/list', listOf('tools')],
  ['tools/call', ofInstance(hasName, callTool)],
  ['prompts/list', needs('prompts', listOf('prompts'))],
  ['resources/list', needs('resources', listOf('resources'))],
  ['resources/templates/list', needs('resources', listOf('resources', 'templates'))],
  ofServer('prompts', 'prompts/get', hasName, ({ name }) =>
    invalidParams(`There is no prompt ${JSON.stringify(name)}.`),
  ),
  ofServer('resources', 'resources/read', hasText('uri'), ({ uri }) =>
    refusal(errorCodes.resourceNotFound, `There is no resource ${JSON.stringify(uri)}.`, { uri }),
  ),
  ofServer('subscribe', 'resources/subscribe', hasText('uri'), noUpdates),
  ofServer('subscribe', 'resources/unsubscribe', hasText('uri'), noUpdates),
  ofServer('completions', 'completion/complete', hasReference, () => noCompletions),
  ...taskMethods.map((method): [string, Method] => [
    method,
    ofTask(forwarded(method, hasText('taskId'))),
  ]),
]);

export const ofInstances: readonly string[] = [
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
  ...taskMethods,
];

const legacyMethods = [
  'ping',
  'initialize',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
];

export function isOfModernEra(method: string): boolean {
  return methods.has(method) && !legacyMethods.includes(method);
}

/** An exception is our own defect, so the client gets an internal error. */
export function answerRequest(
  method: string,
  params: Fields | undefined,
  context: RequestContext,
): Answer {
  try {
    const answer = methods.get(method);
    return answer ? answer(params ?? {}, context) : unknownMethod;
  } catch (cause) {
    context.deps.log.write(
      'error',
      `A request of ${context.listing.toolset} threw: ${asText(cause)}`,
    );
    return refusal(
      errorCodes.internal,
      'The request failed inside MCP Toolsets; its log says more.',
    );
  }
}

export function takeNotification(
  method: string,
  params: Fields | undefined,
  session: Session,
  deps?: Pick<MethodDeps, 'backend'>,
): void {
  const id = params?.['requestId'];
  if (method === 'notifications/cancelled' && isRequestId(id))
    cancelCall(session, id, params?.['reason']);
  if (method === 'notifications/progress') session.clientRequests.progress(params ?? {});
  if (method === 'notifications/roots/list_changed')
    deps?.backend.noteClient(session.client, 'roots');
}

/**
 * @param lacking the answer without the feature, if the toolset may gain it; by default the
 * method's own
 */
function needs(feature: keyof ServerFeatures, method: Method, lacking: Method = method): Method {
  return (params, context) => {
    const { features, canGain } = context.listing;
    if (features[feature]) return method(params, context);
    return canGain ? lacking(params, context) : unknownMethod;
  };
}

function ofServer(
  feature: keyof ServerFeatures,
  method: string,
  check: Check,
  lacking: Method,
): [string, Method] {
  return [method, needs(feature, forwarded(method, check), lacking)];
}

/** Tasks differ before 2026-07-28, and only a client with the capability may ask about them. */
function ofTask(method: Method): Method {
  return (params, context) => {
    const { client, listing } = context;
    if (client.protocolVersion !== modernVersion || !knowsTasks(listing.features))
      return unknownMethod;
    return knowsTasks(client.traits.declared)
      ? method(params, context)
      : { kind: 'error', error: tasksNotDeclared };
  };
}

function setLevel({ level }: Fields, context: RequestContext): Answer {
  if (!isLogLevel(level)) return invalidParams('Unknown log level.');
  context.client.logLevel = level;
  context.deps.backend.noteClient(new CallClient(context, context.conversation?.id), 'logLevel');
  return empty;
}

function listOf(topic: Topic, list: ListName = topic): Method {
  return ({ cursor }, { conversation, listing, deps }) => {
    if (cursor !== undefined && typeof cursor !== 'string')
      return invalidParams('`cursor` must be a string.');
    listing.refresh();
    const json = listing[list].page(cursor);
    if (json === undefined)
      return invalidParams('The cursor is invalid or has expired. List again from the beginning.');
    conversation?.noteListed(topic);
    deps.backend.noteListed(listing.toolset, listing.conversation);
    if (topic === 'tools') deps.noteActivity(listing.toolset);
    return { kind: 'result', json };
  };
}

/** @param destination the conversation of the app that asks, if one does */
type Ask = (asked: Fields, destination: Destination | undefined, context: RequestContext) => Answer;

/**
 * Finds the conversation of an app of the editor (G8). Another client's app is a part of its
 * conversation.
 */
function ofInstance(check: Check, ask: Ask): Method {
  return (params, context) => {
    const wrong = check(params);
    if (wrong !== undefined) return invalidParams(wrong);
    const { conversation, listing, deps } = context;
    const mayBeApp = listing.clientKind === 'editor' && deps.namesConversations;
    if (!mayBeApp || conversationOf(metaOf(params)) !== undefined)
      return ask(params, undefined, context);
    const { asked, token } = withoutToken(params);
    const { name } = asked;
    const { toolset } = listing;
    const isByApp =
      token !== undefined || (typeof name === 'string' && listing.isForAppsAlone(name));
    if (!isByApp) return ask(params, undefined, context);
    const shared =
      listing.served?.isLeased || !conversation
        ? undefined
        : { toolset, conversation: conversation.id };
    const destination = shared ?? deps.openings.find(toolset, token ?? '');
    if (destination) return ask(asked, destination, context);
    const message = `"${toolset}" does not know which conversation opened this app, so the call was not made. Ask for the app again in the chat.`;
    return refusal(errorCodes.server, message);
  };
}

function callTool(
  asked: Fields,
  destination: Destination | undefined,
  context: RequestContext,
): Answer {
  const { client, conversation: asking, listing, deps } = context;
  const { name, arguments: given } = asked as { name: string; arguments?: Fields };
  const fromApp = destination ? true : undefined;
  const app = fromApp ? undefined : listing.apps.get(name);
  return forward(asked, context, {
    what: name,
    cancelled: 'The call was cancelled.',
    destination,
    send: ({
      toolset,
      clientKind,
      meta,
      conversation,
      signal,
      onProgress,
      client,
    }): Promise<ToolOutcome> => {
      // The editor may read the page during the call.
      if (app !== undefined) asking?.links.set(app, { toolset: listing.toolset, conversation });
      // Written out, because a copy by `...` gets another layout in V8, and every reader pays for
      // that (P3).
      return deps.backend.callTool({
        toolset,
        conversation,
        clientKind,
        tool: name,
        arguments: given,
        meta,
        signal,
        onProgress,
        client,
        instance: fromApp ? 'held' : undefined,
        fromApp,
        isPromised: !fromApp && asking?.promised?.has(name) ? true : undefined,
      });
    },
    write: async (
      { result, toolset = listing.toolset, publishedName = name, notes, record },
      { conversation, clientKind },
    ) => {
      // A task has no result yet.
      if (taskIn(result) !== undefined) return written(client, result, result);
      const origin = { server: toolset, tool: publishedName, conversation };
      const inVersion = (own: CallToolResult): CallToolResult =>
        toolResult(client.protocolVersion, own);
      // An app gets the result as the server gave it.
      if (fromApp)
        return written(client, result, inVersion(await deps.delivery.forOthers(result, origin)));
      asking?.links.note(result, { toolset, conversation });
      // An agent host shows the result in the app itself, and its models read text beside structure
      // (G8).
      const isShown =
        clientKind === 'agentHost' && (app !== undefined || listing.isForAppsAlone(name));
      // Agents of the editor need the same changes as the editor.
      const isEditor = clientKind !== 'plain' && !isShown;
      const opens = app !== undefined && clientKind === 'editor' && conversation !== asking?.id;
      const own = await (opens
        ? deps.delivery.forEditorWithApp(
            result,
            origin,
            deps.openings.open({ toolset: listing.toolset, conversation }),
          )
        : deps.delivery[isEditor ? 'forEditor' : 'forOthers'](result, origin));
      const hidesText = isEditor || client.traits.readsStructureAlone;
      // A note does not replace the tool's own text.
      const sent = notes ? withNotes(inVersion(own), notes, hidesText) : inVersion(own);
      const json = written(client, result, sent);
      record?.onWritten(sent, json);
      return json;
    },
  });
}

/** A server pays for its large results (S2c, P10), found by the result as it gave it. */
function written({ serverMeta }: Client, result: object, sent: Fields): string | Promise<string> {
  const isBare = sent['_meta'] === undefined && sent['resultType'] === undefined;
  if (serverMeta && isBare && !isLarge(sent)) return enveloped(JSON.stringify(sent), serverMeta);
  const named = serverMeta
    ? { resultType: 'complete', ...sent, _meta: { ...metaOf(sent), ...serverMeta } }
    : sent;
  return jsonOf(named, LoopShare.of(result));
}

function forwarded(method: string, check: Check): Method {
  return ofInstance(check, (asked, destination, context) => {
    const { client, listing, deps } = context;
    // Answers to a task's questions are its parameters.
    const { inputResponses } = asked;
    const own = { ...withoutCarriage(asked), ...(method === 'tasks/update' && { inputResponses }) };
    const isNamed = deps.namesConversations && conversationOf(metaOf(asked)) !== undefined;
    const { uri } = own as { uri?: unknown };
    const isPage = !isNamed && listing.hasApp(uri);
    return forward(asked, context, {
      what: method,
      cancelled: 'The request was cancelled.',
      destination,
      link: uri,
      send: async (terms): Promise<OtherOutcome> => {
        // The page of an app is the same on every instance, so reading it starts none.
        const instance = isPage ? 'any' : destination ? 'held' : undefined;
        const isOfLink = terms.toolset !== listing.toolset;
        const outcome = await deps.backend.request({
          ...terms,
          method,
          params: own,
          instance,
          isOfLink,
        });
        // Under 2024-11-05 no server declares completions, so only this error shows their absence.
        const lacks = outcome.kind === 'error' && outcome.code === errorCodes.methodNotFound;
        return lacks && method === 'completion/complete'
          ? { kind: 'result', result: emptyCompletion }
          : outcome;
      },
      write: async (
        { result, tool = unknownTool, toolset = listing.toolset },
        { conversation, clientKind },
      ) => {
        const { delivery } = deps;
        const own = taskMethods.includes(method)
          ? await deliveredTask(result, delivery, clientKind, {
              server: toolset,
              tool,
              conversation,
            })
          : isPage && listing.clientKind === 'editor'
            ? withScript(result)
            : result;
        return written(
          client,
          result,
          otherResult(client.protocolVersion, own, listing.served?.isLeased === true),
        );
      },
    });
  });
}

export const unknownTool = 'task';

export async function deliveredTask(
  said: Fields,
  delivery: Delivery,
  clientKind: ClientKind,
  origin: ArtifactOrigin,
): Promise<Fields> {
  const result = resultOfTask(said);
  if (!Array.isArray(result?.['content']) || !result['content'].every(isObject)) return said;
  const plain = await inTurns(withoutDataUrls(result as CallToolResult), LoopShare.of(said));
  return {
    ...said,
    result: await delivery[clientKind === 'plain' ? 'forOthers' : 'forEditor'](plain, origin),
  };
}

function hasText(key: 'name' | 'uri' | 'taskId'): Check {
  return ({ [key]: value }) =>
    typeof value === 'string' && value !== ''
      ? undefined
      : `\`${key}\` must be a non-empty string.`;
}

function hasName(params: Fields): string | undefined {
  const { arguments: given } = params;
  const isObjectAtMost = given === undefined || isObject(given);
  return hasText('name')(params) ?? (isObjectAtMost ? undefined : '`arguments` must be an object.');
}

function hasReference({ ref, argument }: Fields): string | undefined {
  if (!isObject(ref) || typeof ref['type'] !== 'string')
    return '`ref` must be an object with a `type`.';
  return isObject(argument) ? undefined : '`argument` must be an object.';
}
