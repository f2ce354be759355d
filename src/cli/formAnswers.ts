/**
 * The client behind a call of the command line: what a tool asks by a form is answered from what was given beforehand,
 * and what that leaves out takes the form's own default. Nobody is asked. Where a field that the form requires has neither,
 * the question is cancelled and a message says so, because a value is never made up.
 */
import { asText } from '../core/base/text.js';
import type { Fields, ServerClient } from '../core/protocol/client.js';
import { oneLine } from '../core/base/inert.js';
import { errorCodes, RpcFailure } from '../core/protocol/errors.js';

type FormAnswer =
  | { readonly kind: 'accept'; readonly content: Fields }
  /** Fields that the form requires. */
  | { readonly kind: 'incomplete'; readonly missing: readonly string[] };

/** @param complain hears what could not be answered */
export function formAnswers(given: Fields, complain: (text: string) => void): ServerClient {
  const session = {};
  return {
    session,
    capabilities: { elicitation: { form: {} } },
    logLevel: undefined,
    ask: (method, params) => {
      if (method !== 'elicitation/create')
        return Promise.reject(new RpcFailure(errorCodes.methodNotFound, 'Method not found'));
      const answer = answerForm(params?.['requestedSchema'], given);
      if (answer.kind === 'accept') return Promise.resolve({ action: 'accept', content: answer.content });
      const names = answer.missing.map((name) => `"${name}"`).join(', ');
      complain(
        oneLine(`The tool asks: ${asText(params?.['message'])} It needs ${names}, which --answers does not contain.`),
      );
      return Promise.resolve({ action: 'cancel' });
    },
    tell: () => {},
  };
}

/** Answers a form. What it does not ask for is not sent. Everything here is pure. */
function answerForm(requestedSchema: unknown, given: Fields): FormAnswer {
  const { properties, required } = fields(requestedSchema);
  const content: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(fields(properties))) {
    const value = Object.hasOwn(given, name) ? given[name] : fields(schema)['default'];
    if (value !== undefined) content[name] = value;
  }
  const wanted = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const missing = wanted.filter((name) => !Object.hasOwn(content, name));
  return missing.length > 0 ? { kind: 'incomplete', missing } : { kind: 'accept', content };
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
