/** Tells from a server's capabilities what it can do besides tools (G4). */
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';

export interface ServerFeatures {
  readonly prompts: boolean;
  readonly resources: boolean;
  /** Whether clients can subscribe to resources. */
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

/** @param protocolVersion the version that the server speaks */
export function featuresOf(capabilities: ServerCapabilities, protocolVersion: string): ServerFeatures {
  const { prompts, resources, completions, logging } = capabilities;
  // The first version of the protocol had no capability for completions.
  const mayComplete = protocolVersion === '2024-11-05' && (isThere(prompts) || isThere(resources));
  return {
    prompts: isThere(prompts),
    resources: isThere(resources),
    subscribe: isThere(resources) && resources?.subscribe === true,
    completions: isThere(completions) || mayComplete,
    logging: isThere(logging),
  };
}

/** Some servers write null for what they do not have, or `true` for what they have. */
function isThere(capability: unknown): boolean {
  return capability === true || (typeof capability === 'object' && capability !== null);
}
