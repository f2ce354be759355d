/**
 * The client of `call`: answers a form with the values of `--answers` and the defaults of the form.
 * It never invents a value.
 */
import { isObject } from '../core/base/isObject.js';
import { asText } from '../core/base/text.js';
import {
  expectedClient,
  noClient,
  type Fields,
  type ServerClient,
} from '../core/protocol/client.js';
import { errorCodes, RpcFailure } from '../core/protocol/errors.js';

export function formAnswers(given: Fields, complain: (text: string) => void): ServerClient {
  return {
    ...expectedClient(noClient),
    session: {},
    capabilities: { elicitation: { form: {} } },
    ask: (method, params) => {
      if (method !== 'elicitation/create')
        return Promise.reject(new RpcFailure(errorCodes.methodNotFound, 'Method not found'));
      const { properties, required } = fields(params?.['requestedSchema']);
      const content: Record<string, unknown> = {};
      for (const [name, schema] of Object.entries(fields(properties))) {
        const value = Object.hasOwn(given, name) ? given[name] : fields(schema)['default'];
        if (value !== undefined) content[name] = value;
      }
      const wanted = Array.isArray(required)
        ? required.filter((name) => typeof name === 'string')
        : [];
      const missing = wanted.filter((name) => !Object.hasOwn(content, name));
      if (missing.length === 0) return Promise.resolve({ action: 'accept', content });
      const names = missing.map((name) => `"${name}"`).join(', ');
      complain(
        `The tool asks: ${asText(params?.['message'])} It needs ${names}, which --answers does not contain.`,
      );
      return Promise.resolve({ action: 'cancel' });
    },
  };
}

function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}
