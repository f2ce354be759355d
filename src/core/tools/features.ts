/** What a server can do besides tools, from what it announced (spec G4). Pure. */
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

export function featuresOf(capabilities: ServerCapabilities): ServerFeatures {
  const { prompts, resources, completions, logging } = capabilities;
  return {
    prompts: isThere(prompts),
    resources: isThere(resources),
    subscribe: isThere(resources) && resources?.subscribe === true,
    completions: isThere(completions),
    logging: isThere(logging),
  };
}

/** Some servers write null for what they do not have, or `true` for what they do. */
function isThere(capability: unknown): boolean {
  return capability === true || (typeof capability === 'object' && capability !== null);
}
