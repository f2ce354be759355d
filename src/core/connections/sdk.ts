/** The SDK, loaded when the first server has been spawned: loading takes longer than anything else before the first answer. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ClientCapabilities, ResultSchema } from '@modelcontextprotocol/sdk/types.js';

export interface Sdk {
  readonly createClient: (version: string, capabilities: ClientCapabilities) => Client;
  readonly resultSchema: typeof ResultSchema;
}

export async function loadSdk(): Promise<Sdk> {
  const [{ Client: SdkClient }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  return {
    resultSchema: types.ResultSchema,
    createClient: (version, capabilities) => {
      const client = new SdkClient(
        { name: 'mcp-toolsets', version },
        // Ours passes results through and validates none; the default makes a compiler of schemas for each client.
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
