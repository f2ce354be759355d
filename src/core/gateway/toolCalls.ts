/** `tools/call`: from the client's request to the backend's outcome and back. */
import { assertNever } from '../base/assertNever.js';
import type { Delivery } from '../results/delivery.js';
import { withNotes } from '../results/notes.js';
import { invalidParams, type Answer, type MethodContext } from './answers.js';
import type { BackendCall, BackendOutcome } from './backend.js';
import { isObject } from '../base/isObject.js';
import { toolResult } from './dialect.js';
import { errorCodes, errorMessage, resultMessage, type Params, type RequestId } from './jsonRpc.js';
import type { ProtocolVersion } from './protocol.js';
import { passOn } from './requests.js';

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
