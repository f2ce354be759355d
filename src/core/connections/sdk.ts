/**
 * Loads the SDK when the first server has been spawned, because loading takes longer than all else before the first
 * answer.
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';

interface Sdk {
  readonly createClient: (version: string, capabilities: ClientCapabilities) => Client;
}

export async function loadSdk(): Promise<Sdk> {
  const { Client: SdkClient } = await import('@modelcontextprotocol/sdk/client/index.js');
  return {
    createClient: (version, capabilities) => {
      const client = new SdkClient(
        { name: 'mcp-toolsets', version },
        // This validator validates nothing, as results pass through; the default one makes a compiler for each client.
        {
          capabilities,
          jsonSchemaValidator: {
            getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
          },
        },
      );
      // The connection hears progress itself, before the client does.
      client.removeNotificationHandler('notifications/progress');
      return client;
    },
  };
}
