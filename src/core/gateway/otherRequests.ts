/** What a client asks of a toolset besides its tools: prompts, resources, completions. Lists are served from here. */
import { assertNever } from '../base/assertNever.js';
import { invalidParams, type Answer, type MethodContext } from './answers.js';
import { otherResult } from './dialect.js';
import { conversationOf } from './dialogs.js';
import { isObject } from '../base/isObject.js';
import { errorCodes, errorMessage, resultMessage, type Params } from './jsonRpc.js';
import { passOn } from './requests.js';

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
