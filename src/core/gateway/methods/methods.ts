/**
 * The table of methods for clients. A method answers at once or, with `later`, on the reply itself. It never throws
 * because of a client. The order of `initialize`, `initialized` and other messages is free, because the editor sends
 * them in parallel.
 */
import { asText } from '../../base/text.js';
import type { ServerFeatures } from '../../tools/features.js';
import { invalidParams, refusal, type Answer, type RequestContext, type MethodDeps } from './requests.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import { CallClient } from '../conversations/client.js';
import { isRequestId } from '../../protocol/jsonRpc.js';
import { knowsTasks, taskMethods, tasksNotDeclared } from '../../protocol/tasks.js';
import { modernVersion } from '../../protocol/versions.js';
import { isLogLevel } from '../../protocol/logLevels.js';
import { hasName, hasReference, hasTask, hasUri, noCompletion, forwarded, callTool } from './calls.js';
import type { ListName, Topic } from '../conversations/listings.js';
import type { ServedToolset } from '../backend.js';
import type { Session } from '../conversations/session.js';

type Method = (params: Fields, context: RequestContext) => Answer;

const everything: ServerFeatures = {
  prompts: true,
  resources: true,
  subscribe: true,
  completions: true,
  logging: true,
  extensions: {},
};

/**
 * Returns the capabilities for `initialize`, which hold for the whole session. An edit may exchange the server of a
 * toolset. Such a toolset declares everything, so `list_changed` is enough to report a gain.
 */
export function capabilitiesOf({ features, canGain = false }: Pick<ServedToolset, 'features' | 'canGain'>): Fields {
  const { prompts, resources, subscribe, completions, logging } = canGain ? everything : features;
  return {
    tools: { listChanged: true },
    ...(prompts && { prompts: { listChanged: true } }),
    ...(resources && { resources: { ...(subscribe && { subscribe }), listChanged: true } }),
    ...(completions && { completions: {} }),
    ...(logging && { logging: {} }),
  };
}

const empty: Answer = { kind: 'result', json: '{}' };

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['ping', () => empty],
  ['logging/setLevel', setLevel],
  ['tools/list', listOf('tools')],
  ['tools/call', callTool],
  ['initialize', () => refusal(errorCodes.invalidRequest, '`initialize` must be first and not in a batch.')],
  ['prompts/list', needs('prompts', listOf('prompts'))],
  [
    'prompts/get',
    needs('prompts', forwarded('prompts/get', hasName), ({ name }) =>
      invalidParams(`There is no prompt ${said(name)}.`),
    ),
  ],
  ['resources/list', needs('resources', listOf('resources'))],
  ['resources/templates/list', needs('resources', listOf('resources', 'templates'))],
  ['resources/read', needs('resources', forwarded('resources/read', hasUri), noResource)],
  ['resources/subscribe', needs('subscribe', forwarded('resources/subscribe', hasUri), noUpdates)],
  ['resources/unsubscribe', needs('subscribe', forwarded('resources/unsubscribe', hasUri), noUpdates)],
  [
    'completion/complete',
    needs('completions', forwarded('completion/complete', hasReference), () => ({
      kind: 'result',
      json: noCompletion,
    })),
  ],
  ...taskMethods.map((method) => [method, ofTask(forwarded(method, hasTask))] as const),
]);

/** The methods of sessions. */
const legacyMethods = ['ping', 'initialize', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'];

/** Tasks differ before 2026-07-28, and only a client with the capability may ask about them. */
function ofTask(method: Method): Method {
  return (params, context) => {
    const { client, listing } = context;
    if (client.protocolVersion !== modernVersion || !knowsTasks(listing.features)) return unknownMethod();
    return knowsTasks(client.traits.declared) ? method(params, context) : { kind: 'error', error: tasksNotDeclared };
  };
}

/** True for the methods of 2026-07-28. */
export function isOfModernEra(method: string): boolean {
  return methods.has(method) && !legacyMethods.includes(method);
}

/** Never throws: an exception is our own defect, and the client gets an internal error. */
export function answerRequest(method: string, params: Fields | undefined, context: RequestContext): Answer {
  try {
    const answer = methods.get(method);
    return answer ? answer(params ?? {}, context) : unknownMethod();
  } catch (cause) {
    context.deps.log.write('error', `A request of ${context.listing.toolset} threw: ${asText(cause)}`);
    return refusal(errorCodes.internal, 'The request failed inside MCP Toolsets; its log says more.');
  }
}

/** JSON-RPC ignores unknown notifications. */
export function takeNotification(
  method: string,
  params: Fields | undefined,
  session: Session,
  deps?: Pick<MethodDeps, 'backend'>,
): void {
  switch (method) {
    case 'notifications/cancelled': {
      const id = params?.['requestId'];
      if (isRequestId(id)) session.cancel(id);
      return;
    }
    case 'notifications/progress':
      return session.clientRequests.progress(params ?? {});
    case 'notifications/roots/list_changed':
      return deps?.backend.noteClient(session.client, 'roots');
    default:
  }
}

function unknownMethod(): Answer {
  return refusal(errorCodes.methodNotFound, 'Unknown method.');
}

/**
 * @param lacking the answer of a toolset without the feature that may gain it; by default the method's own, which is
 * empty
 */
function needs(feature: keyof ServerFeatures, method: Method, lacking: Method = method): Method {
  return (params, context) => {
    const { features, canGain } = context.listing;
    if (features[feature]) return method(params, context);
    return canGain ? lacking(params, context) : unknownMethod();
  };
}

function noResource({ uri }: Fields): Answer {
  return {
    kind: 'error',
    error: { code: errorCodes.resourceNotFound, message: `There is no resource ${said(uri)}.`, data: { uri } },
  };
}

function noUpdates(): Answer {
  return refusal(errorCodes.methodNotFound, 'The server of this toolset does not report updates of resources.');
}

function said(value: unknown): string {
  return JSON.stringify(value) ?? '""';
}

function setLevel({ level }: Fields, context: RequestContext): Answer {
  if (!isLogLevel(level)) return invalidParams('Unknown log level.');
  context.client.logLevel = level;
  context.deps.backend.noteClient(new CallClient(context, context.conversation?.id), 'logLevel');
  return empty;
}

function listOf(topic: Topic, list: ListName = topic): Method {
  return ({ cursor }, { conversation, listing, deps }) => {
    if (cursor !== undefined && typeof cursor !== 'string') return invalidParams('`cursor` must be a string.');
    listing.refresh();
    const json = listing[list].page(cursor);
    if (json === undefined)
      return invalidParams('The cursor is invalid or has expired. List again from the beginning.');
    conversation?.noteListed(topic, list);
    deps.backend.noteListed(listing.toolset, listing.conversation);
    if (topic === 'tools') deps.noteActivity(listing.toolset);
    return { kind: 'result', json };
  };
}
