/**
 * The gateway answers lists, an instance the rest, in any order, because the editor sends messages
 * in parallel.
 */
import { isObject } from '../../base/isObject.js';
import { asText } from '../../base/text.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import { isRequestId } from '../../protocol/jsonRpc.js';
import {
  isLogLevel,
  modernVersion,
  knowsTasks,
  taskMethods,
  tasksNotDeclared,
} from '../../protocol/versions.js';
import type { ServerFeatures } from '../../tools/features.js';
import type { ServedToolset } from '../backend.js';
import { CallClient, cancelCall } from '../conversations/client.js';
import type { ListName, Topic } from '../conversations/listings.js';
import type { Session } from '../conversations/session.js';
import { originOf, type Origin } from './appCalls.js';
import { emptyCompletion, forwardOther } from './otherRequests.js';
import {
  invalidParams,
  refusal,
  type Answer,
  type MethodDeps,
  type RequestContext,
} from './requests.js';
import { callTool } from './toolCalls.js';

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
    canGain || features[feature];
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
    const { client, deps } = context;
    deps.log.write('error', `A request of ${client.listing.toolset} threw: ${asText(cause)}`);
    return refusal(
      errorCodes.internal,
      'The request failed inside MCP Toolsets; its log says more.',
    );
  }
}

export function applyNotification(
  method: string,
  params: Fields | undefined,
  session: Session,
  { backend }: Pick<MethodDeps, 'backend'>,
): void {
  const id = params?.['requestId'];
  if (method === 'notifications/cancelled' && isRequestId(id))
    cancelCall(session, id, params?.['reason']);
  if (method === 'notifications/progress') session.clientRequests.progress(params ?? {});
  if (method === 'notifications/roots/list_changed') backend.noteClient(session.client, 'roots');
}

/**
 * @param lacking the answer without the feature, if the toolset may gain it; by default the
 * method's own
 */
function needs(feature: keyof ServerFeatures, method: Method, lacking: Method = method): Method {
  return (params, context) => {
    const { features, canGain } = context.client.listing;
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
    const { traits, listing } = context.client;
    if (traits.version !== modernVersion || !knowsTasks(listing.features)) return unknownMethod;
    return knowsTasks(traits.declared)
      ? method(params, context)
      : { kind: 'error', error: tasksNotDeclared };
  };
}

function setLevel({ level }: Fields, { client, deps }: RequestContext): Answer {
  if (!isLogLevel(level)) return invalidParams('Unknown log level.');
  client.logLevel = level;
  deps.backend.noteClient(new CallClient(client, client.conversation?.id), 'logLevel');
  return empty;
}

function listOf(topic: Topic, list: ListName = topic): Method {
  return ({ cursor }, { client, deps }) => {
    if (cursor !== undefined && typeof cursor !== 'string')
      return invalidParams('`cursor` must be a string.');
    const { listing } = client;
    listing.refresh();
    const json = listing[list].page(cursor);
    if (json === undefined)
      return invalidParams('The cursor is invalid or has expired. List again from the beginning.');
    client.hasRead(topic);
    deps.backend.noteListed(listing.toolset, listing.conversation);
    if (topic === 'tools') deps.noteActivity(listing.toolset);
    return { kind: 'result', json };
  };
}

function ofInstance(
  check: Check,
  ask: (origin: Origin, context: RequestContext) => Answer,
): Method {
  return (params, context) => {
    const wrong = check(params);
    if (wrong !== undefined) return invalidParams(wrong);
    const origin = originOf(params, context.client, context.deps);
    if (origin) return ask(origin, context);
    const { toolset } = context.client.listing;
    const message = `"${toolset}" does not know which conversation opened this app, so the call was not made. Ask for the app again in the chat.`;
    return refusal(errorCodes.server, message);
  };
}

function forwarded(method: string, check: Check): Method {
  return ofInstance(check, (origin, context) => forwardOther(method, origin, context));
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
