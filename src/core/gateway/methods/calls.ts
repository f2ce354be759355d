/**
 * The methods with an answer from an instance: `tools/call`, prompts, resources, completions and tasks. The gateway
 * itself answers lists.
 */
import { withoutToken, withScript } from '../../apps/editorApps.js';
import { assertNever } from '../../base/assertNever.js';
import { isObject } from '../../base/isObject.js';
import { inTurns, LoopShare } from '../../base/turns.js';
import { isLarge, jsonInSlices } from '../../protocol/slicedJson.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import { metaOf } from '../../protocol/requestMeta.js';
import type { Destination, OtherOutcome, ToolOutcome, ToolsetCall } from '../../protocol/request.js';
import { withNotes } from '../../results/notes.js';
import { taskIn, taskMethods } from '../../protocol/tasks.js';
import { otherResult, toolResult } from '../dialect.js';
import type { Client } from '../conversations/client.js';
import { conversationOf } from '../conversations/conversationIds.js';
import {
  forward,
  invalidParams,
  refusal,
  withoutCarriage,
  type Answer,
  type ForwardTerms,
  type RequestContext,
} from './requests.js';
import { deliveredTask, unknownTool } from './taskResults.js';

export function callTool(params: Fields, context: RequestContext): Answer {
  const { name, arguments: given } = params;
  if (typeof name !== 'string' || name === '') return invalidParams('`name` must be a non-empty string.');
  if (given !== undefined && !isObject(given)) return invalidParams('`arguments` must be an object.');
  const asked = askedBy(params, context);
  switch (asked.kind) {
    case 'refused':
      return asked.answer;
    case 'app':
      return callFromApp(name, asked.asked, asked.destination, context);
    case 'conversation':
      return callFromConversation(name, given, params, context);
    default:
      return assertNever(asked);
  }
}

function callFromConversation(
  name: string,
  given: Fields | undefined,
  params: Fields,
  context: RequestContext,
): Answer {
  const { client, conversation: asking, listing, deps } = context;
  const app = listing.apps.get(name);
  return forward(params, context, {
    what: name,
    cancelled: 'The call was cancelled.',
    send: (terms): Promise<ToolOutcome> => {
      // The editor may read the page during the call.
      if (app !== undefined) asking?.links.set(app, { toolset: listing.toolset, conversation: terms.conversation });
      const call = callOf(terms, name, given);
      return deps.backend.callTool(asking?.promised?.has(name) ? { ...call, isPromised: true } : call);
    },
    write: async (
      { result, toolset = listing.toolset, publishedName = name, notes = [], onReceived },
      { conversation, clientKind },
    ) => {
      // A task has no result yet.
      if (taskIn(result) !== undefined) return written(client, result, result);
      asking?.links.note(result, { toolset, conversation });
      // An agent host shows the result in the app itself, and its models read text beside structure (G8).
      const isShown = clientKind === 'agentHost' && (app !== undefined || listing.isForAppsAlone(name));
      // Agents of the editor need the same changes as the editor.
      const isEditor = clientKind !== 'plain' && !isShown;
      const origin = { server: toolset, tool: publishedName, conversation };
      const opens = app !== undefined && clientKind === 'editor' && conversation !== asking?.id;
      const own = opens
        ? await deps.delivery.forEditorWithApp(
            result,
            origin,
            deps.openings.open({ toolset: listing.toolset, conversation }),
          )
        : await deps.delivery[isEditor ? 'forEditor' : 'forOthers'](result, origin);
      const isReadable = isEditor || client.traits.readsStructureAlone;
      // A note does not replace the tool's own text.
      const sent = withNotes(toolResult(client.protocolVersion, own), notes, isReadable);
      onReceived?.(sent);
      return await written(client, result, sent);
    },
  });
}

/** Written out, because a copy by `...` gets another layout in V8, and every reader pays for that (P3). */
function callOf(terms: ForwardTerms, tool: string, given: Fields | undefined, fromApp?: true): ToolsetCall {
  const { toolset, clientKind, meta, conversation, signal, onProgress, client } = terms;
  const instance = fromApp ? 'held' : undefined;
  return {
    toolset,
    conversation,
    clientKind,
    tool,
    arguments: given,
    meta,
    signal,
    onProgress,
    client,
    instance,
    fromApp,
  };
}

/**
 * Writes a result, for a modern client with our name. A server pays for the time of its large results (S2, P10).
 * @param result as the server gave it
 */
function written({ serverMeta }: Client, result: object, sent: Fields): string | Promise<string> {
  const named = serverMeta ? { ...sent, _meta: { ...metaOf(sent), ...serverMeta } } : sent;
  return isLarge(named) ? inTurns(jsonInSlices(named), LoopShare.of(result)) : JSON.stringify(named);
}

/** An app gets the result as the server gave it. */
function callFromApp(name: string, asked: Fields, destination: Destination, context: RequestContext): Answer {
  const { client, listing, deps } = context;
  const { arguments: given } = asked as { arguments?: Fields };
  return forward(asked, context, {
    what: name,
    cancelled: 'The call was cancelled.',
    destination,
    send: (terms): Promise<ToolOutcome> => deps.backend.callTool(callOf(terms, name, given, true)),
    write: async ({ result, toolset = listing.toolset, publishedName = name }, { conversation }) => {
      if (taskIn(result) !== undefined) return written(client, result, result);
      const origin = { server: toolset, tool: publishedName, conversation };
      const own = await deps.delivery.forOthers(result, origin);
      return await written(client, result, toolResult(client.protocolVersion, own));
    },
  });
}

const emptyCompletion = { completion: { values: [] } };

export const noCompletion = JSON.stringify(emptyCompletion);

/** Returns the fault of the parameters, if any. */
type Check = (params: Fields) => string | undefined;

type Forwarded = (params: Fields, context: RequestContext) => Answer;

/** Makes a method for requests to the server as they came. */
export function forwarded(method: string, check: Check): Forwarded {
  return (params, context) => {
    const wrong = check(params);
    if (wrong !== undefined) return invalidParams(wrong);
    const { client, listing, deps } = context;
    const by = askedBy(params, context);
    if (by.kind === 'refused') return by.answer;
    const asked = by.kind === 'app' ? by.asked : params;
    // Answers to a task's questions are its parameters.
    const { inputResponses } = asked;
    const own = { ...withoutCarriage(asked), ...(method === 'tasks/update' && { inputResponses }) };
    const isNamed = deps.namesConversations && conversationOf(metaOf(params)) !== undefined;
    const { uri } = own as { uri?: unknown };
    const isPage = !isNamed && listing.hasApp(uri);
    const isForEditor = listing.clientKind === 'editor';
    return forward(params, context, {
      what: method,
      cancelled: 'The request was cancelled.',
      destination: by.kind === 'app' ? by.destination : undefined,
      link: uri,
      send: async (terms): Promise<OtherOutcome> => {
        const outcome = await deps.backend.request({
          ...terms,
          method,
          params: own,
          // The page of an app is the same on every instance, so reading it starts none.
          instance: isPage ? 'any' : by.kind === 'app' ? 'held' : undefined,
        });
        // Under 2024-11-05 no server declares completions, so only this error shows their absence.
        const lacks = outcome.kind === 'error' && outcome.code === errorCodes.methodNotFound;
        return lacks && method === 'completion/complete' ? { kind: 'result', result: emptyCompletion } : outcome;
      },
      write: async ({ result, tool = unknownTool, toolset = listing.toolset }, { conversation, clientKind }) => {
        const { delivery } = deps;
        const own = taskMethods.includes(method)
          ? await deliveredTask(result, { delivery, clientKind, server: toolset, tool, conversation })
          : isPage && isForEditor
            ? withScript(result)
            : result;
        return written(client, result, otherResult(client.protocolVersion, own, listing.isLeased));
      },
    });
  };
}

export const hasUri: Check = ({ uri }) =>
  typeof uri === 'string' && uri !== '' ? undefined : '`uri` must be a non-empty string.';

export const hasName: Check = ({ name, arguments: given }) => {
  if (typeof name !== 'string' || name === '') return '`name` must be a non-empty string.';
  return given === undefined || isObject(given) ? undefined : '`arguments` must be an object.';
};

export const hasReference: Check = ({ ref, argument }) => {
  if (!isObject(ref) || typeof ref['type'] !== 'string') return '`ref` must be an object with a `type`.';
  return isObject(argument) ? undefined : '`argument` must be an object.';
};

export const hasTask: Check = ({ taskId }) =>
  typeof taskId === 'string' && taskId !== '' ? undefined : '`taskId` must be a non-empty string.';

type AskedBy =
  | { readonly kind: 'conversation' }
  /** `asked` holds the parameters for the server. */
  | { readonly kind: 'app'; readonly asked: Fields; readonly destination: Destination }
  | { readonly kind: 'refused'; readonly answer: Answer };

/**
 * Tells requests of the editor's apps from requests of its conversations, and finds the conversation of an app (G8).
 * Another client's app is a part of its conversation.
 */
function askedBy(params: Fields, { conversation, listing, deps }: RequestContext): AskedBy {
  if (listing.clientKind !== 'editor' || !deps.namesConversations) return { kind: 'conversation' };
  if (conversationOf(metaOf(params)) !== undefined) return { kind: 'conversation' };
  const { asked, token } = withoutToken(params);
  const { name } = asked;
  const { toolset } = listing;
  if (token === undefined && !(typeof name === 'string' && listing.isForAppsAlone(name))) {
    return { kind: 'conversation' };
  }
  const shared = listing.isLeased || !conversation ? undefined : { toolset, conversation: conversation.id };
  const destination = shared ?? deps.openings.find(toolset, token ?? '');
  if (destination) return { kind: 'app', asked, destination };
  const message = `"${toolset}" does not know which conversation opened this app, so the call was not made. Ask for the app again in the chat.`;
  return { kind: 'refused', answer: refusal(errorCodes.server, message) };
}
