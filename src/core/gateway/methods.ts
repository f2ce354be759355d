/**
 * What a session's client may ask, as one table. A method answers at once or, `later`, on the reply itself; it never
 * throws for what a client sends. The order of `initialize`, `initialized` and the rest is not enforced: the editor
 * sends them in parallel. What the server behind a toolset does not have is announced by nobody and answered by nobody.
 */
import type { ServerFeatures } from '../tools/features.js';
import { invalidParams, refusal, type Answer, type MethodContext, type Services } from './answers.js';
import { errorCodes, isRequestId, type Params } from './jsonRpc.js';
import { isLogLevel } from './logLevels.js';
import { hasName, hasReference, hasUri, passedOn } from './otherRequests.js';
import type { PagedList } from './pagedList.js';
import type { Session } from './session.js';
import { callTool } from './toolCalls.js';
import type { Topic } from './topics.js';

type Method = (params: Params, context: MethodContext) => Answer;

/** Announced at initialize: what the tables below serve of what the server has. */
export function capabilitiesOf({ prompts, resources, subscribe, completions, logging }: ServerFeatures): Params {
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
  ['tools/list', listOf('tools', ({ listing }) => listing.tools)],
  ['tools/call', callTool],
  ['initialize', () => refusal(errorCodes.invalidRequest, '`initialize` begins a session and comes alone.')],
  [
    'prompts/list',
    needs(
      'prompts',
      listOf('prompts', ({ listing }) => listing.prompts),
    ),
  ],
  ['prompts/get', needs('prompts', passedOn('prompts/get', hasName))],
  [
    'resources/list',
    needs(
      'resources',
      listOf('resources', ({ listing }) => listing.resources),
    ),
  ],
  [
    'resources/templates/list',
    needs(
      'resources',
      listOf('resources', ({ listing }) => listing.templates),
    ),
  ],
  ['resources/read', needs('resources', passedOn('resources/read', hasUri))],
  ['resources/subscribe', needs('subscribe', passedOn('resources/subscribe', hasUri))],
  ['resources/unsubscribe', needs('subscribe', passedOn('resources/unsubscribe', hasUri))],
  ['completion/complete', needs('completions', passedOn('completion/complete', hasReference))],
]);

export function answerRequest(method: string, params: Params | undefined, context: MethodContext): Answer {
  const answer = methods.get(method);
  return answer ? answer(params ?? {}, context) : unknownMethod();
}

/** Those that are not known are ignored, as JSON-RPC wants it. */
export function takeNotification(
  method: string,
  params: Params | undefined,
  session: Session,
  services?: Pick<Services, 'backend'>,
): void {
  switch (method) {
    case 'notifications/cancelled': {
      const id = params?.['requestId'];
      if (isRequestId(id)) session.cancel(id);
      return;
    }
    case 'notifications/progress':
      return session.questions.progress(params ?? {});
    case 'notifications/roots/list_changed':
      return services?.backend.noteClient(session.client, 'roots');
    default:
  }
}

function unknownMethod(): Answer {
  return refusal(errorCodes.methodNotFound, 'Unknown method.');
}

function needs(feature: keyof ServerFeatures, method: Method): Method {
  return (params, context) => (context.session.listing.features[feature] ? method(params, context) : unknownMethod());
}

function setLevel({ level }: Params, { session, services }: MethodContext): Answer {
  if (!isLogLevel(level)) return invalidParams('Unknown log level.');
  session.logLevel = level;
  services.backend.noteClient(session.client, 'logLevel');
  return empty;
}

function listOf(topic: Topic, list: (session: Session) => PagedList): Method {
  return ({ cursor }, { session, services }) => {
    if (cursor !== undefined && typeof cursor !== 'string') return invalidParams('`cursor` must be a string.');
    session.listing.refresh();
    const json = list(session).page(cursor);
    if (json === undefined) return invalidParams('The cursor is not valid (any more): list again from the beginning.');
    session.noteListed(topic);
    if (topic === 'tools') services.noteActivity(session.toolset);
    return { kind: 'result', json };
  };
}
