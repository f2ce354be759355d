/** `tools/call`: from the client's request to the backend's outcome and back. */
import { assertNever } from '../base/assertNever.js';
import type { Delivery } from '../results/delivery.js';
import { withNotes } from '../results/notes.js';
import { type Answer, conversationOf, invalidParams, type MethodContext, passOn } from './requests.js';
import type { BackendCall, BackendOutcome } from './backend.js';
import { isObject } from '../base/isObject.js';
import { otherResult, toolResult } from './dialect.js';
import { errorCodes, errorMessage, type Params, type RequestId, resultMessage } from './jsonRpc.js';
import type { ProtocolVersion } from '../protocol/versions.js';

export function callTool(params: Params, context: MethodContext): Answer {
  const { id, session, services } = context;
  const { name, arguments: given } = params;
  if (typeof name !== 'string' || name === '') return invalidParams('`name` must be a non-empty string.');
  if (given !== undefined && !isObject(given)) return invalidParams('`arguments` must be an object.');
  return passOn(params, context, name, async (terms) => {
    const call: BackendCall = { ...terms, tool: name, arguments: given };
    const outcome = await services.backend.callTool(call);
    if (outcome.kind === 'result') session.noteLinks(outcome.result, terms.dialog);
    return await toMessage(id, outcome, call, services.delivery, session.protocolVersion);
  });
}

async function toMessage(
  id: RequestId,
  outcome: BackendOutcome,
  { toolset, tool, dialog, clientKind }: BackendCall,
  delivery: Delivery,
  version: ProtocolVersion,
): Promise<string> {
  switch (outcome.kind) {
    case 'result': {
      const isEditor = clientKind === 'editor';
      const origin = { server: toolset, tool: outcome.publishedName ?? tool, dialog };
      const own = await (isEditor
        ? delivery.forEditor(outcome.result, origin)
        : delivery.forOthers(outcome.result, origin));
      return resultMessage(id, JSON.stringify(toolResult(version, withNotes(own, outcome.notes ?? [], isEditor))));
    }
    case 'error':
      return errorMessage(id, outcome);
    case 'cancelled':
      return errorMessage(id, { code: errorCodes.server, message: 'The call was cancelled.' });
    default:
      return assertNever(outcome);
  }
}

/** What a client asks of a toolset besides its tools: prompts, resources, completions. Lists are served from here. */

export const noCompletion = '{"completion":{"values":[]}}';

type Check = (params: Params) => string | undefined;

/** A method that an instance answers. */
export function passedOn(method: string, check: Check): (params: Params, context: MethodContext) => Answer {
  return (params, context) => {
    const wrong = check(params);
    if (wrong !== undefined) return invalidParams(wrong);
    const { id, session, services } = context;
    const own = Object.fromEntries(Object.entries(params).filter(([key]) => key !== '_meta'));
    // A link that a call returned is read where it was made, whoever reads it (the editor does so for no conversation).
    const { uri, _meta: meta } = params;
    const named = services.namesConversations && conversationOf(isObject(meta) ? meta : undefined) !== undefined;
    const dialog = typeof uri === 'string' && !named ? session.links.get(uri) : undefined;
    const run = async (terms: Parameters<Parameters<typeof passOn>[3]>[0]): Promise<string> => {
      const outcome = await services.backend.request({ ...terms, method, params: own });
      switch (outcome.kind) {
        case 'result':
          return resultMessage(id, JSON.stringify(otherResult(session.protocolVersion, outcome.result)));
        case 'error':
          // Nothing told whether it has any: of 2024-11-05 no server announces it.
          if (method === 'completion/complete' && outcome.code === errorCodes.methodNotFound)
            return resultMessage(id, noCompletion);
          return errorMessage(id, outcome);
        case 'cancelled':
          return errorMessage(id, { code: errorCodes.server, message: 'The request was cancelled.' });
        default:
          return assertNever(outcome);
      }
    };
    return passOn(params, context, method, run, dialog);
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
