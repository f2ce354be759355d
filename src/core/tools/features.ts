import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { isObject, type Fields } from '../base/isObject.js';
import { knownExtensions } from '../protocol/client.js';

export interface ServerFeatures {
  readonly prompts: boolean;
  readonly resources: boolean;
  readonly subscribe: boolean;
  readonly completions: boolean;
  readonly logging: boolean;
  readonly extensions: Fields;
}

export const toolsAlone = featuresOf({}, '');

export function featuresOf(
  capabilities: ServerCapabilities,
  protocolVersion: string,
): ServerFeatures {
  const { prompts, resources, completions, logging } = capabilities;
  // The first version of the protocol had no capability for completions.
  const mayComplete =
    protocolVersion === '2024-11-05' && (isObject(prompts) || isObject(resources));
  return {
    prompts: isObject(prompts),
    resources: isObject(resources),
    subscribe: isObject(resources) && resources.subscribe === true,
    completions: isObject(completions) || mayComplete,
    logging: isObject(logging),
    extensions: protocolVersion >= '2026-07-28' ? knownExtensions(capabilities) : {},
  };
}
