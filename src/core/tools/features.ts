/** What a server can do besides tools, from what it announced (G4). Pure. */
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';

export interface ServerFeatures {
  readonly prompts: boolean;
  readonly resources: boolean;
  /** Of resources. */
  readonly subscribe: boolean;
  readonly completions: boolean;
  readonly logging: boolean;
}

export const toolsAlone: ServerFeatures = {
  prompts: false,
  resources: false,
  subscribe: false,
  completions: false,
  logging: false,
};

/** @param protocolVersion of the server */
export function featuresOf(capabilities: ServerCapabilities, protocolVersion: string): ServerFeatures {
  const { prompts, resources, completions, logging } = capabilities;
  // In the first version a server had them or had them not; announcing them came later.
  const mayComplete = protocolVersion === '2024-11-05' && (isThere(prompts) || isThere(resources));
  return {
    prompts: isThere(prompts),
    resources: isThere(resources),
    subscribe: isThere(resources) && resources?.subscribe === true,
    completions: isThere(completions) || mayComplete,
    logging: isThere(logging),
  };
}

/** Some servers write null for what they do not have, or `true` for what they do. */
function isThere(capability: unknown): boolean {
  return capability === true || (typeof capability === 'object' && capability !== null);
}
