/**
 * What a session's client may ask, as one table. A method answers at once or, `later`, on the reply itself; it never
 * throws for what a client sends. The order of `initialize`, `initialized` and the rest is not enforced: the editor
 * sends them in parallel. Prompts, resources, completions (spec G4) are further rows of the same table.
 */
import { invalidParams, refusal, type Answer, type MethodContext } from './answers.js';
import { errorCodes, isRequestId, type Params } from './jsonRpc.js';
import type { Session } from './session.js';
import { callTool } from './toolCalls.js';

type Method = (params: Params, context: MethodContext) => Answer;

/** Announced at initialize: what the tables below serve. */
export const capabilities = { tools: { listChanged: true }, logging: {} } as const;

const logLevels = new Set(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);
const empty: Answer = { kind: 'result', json: '{}' };

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['ping', () => empty],
  ['logging/setLevel', ({ level }) => (logLevels.has(level as string) ? empty : invalidParams('Unknown log level.'))],
  ['tools/list', listTools],
  ['tools/call', callTool],
  ['initialize', () => refusal(errorCodes.invalidRequest, '`initialize` begins a session and comes alone.')],
]);

export function answerRequest(method: string, params: Params | undefined, context: MethodContext): Answer {
  const answer = methods.get(method);
  return answer ? answer(params ?? {}, context) : refusal(errorCodes.methodNotFound, 'Unknown method.');
}

/** Those that are not known are ignored, as JSON-RPC wants it. */
export function takeNotification(method: string, params: Params | undefined, session: Session): void {
  const id = params?.['requestId'];
  if (method === 'notifications/cancelled' && isRequestId(id)) session.cancel(id);
}

function listTools(params: Params, { session, services }: MethodContext): Answer {
  const { cursor } = params;
  if (cursor !== undefined && typeof cursor !== 'string') return invalidParams('`cursor` must be a string.');
  session.listing.refresh();
  const json = session.listing.page(cursor);
  if (json === undefined) return invalidParams('The cursor is not valid (any more): list again from the beginning.');
  session.noteListed();
  services.noteActivity(session.toolset);
  return { kind: 'result', json };
}
