import type { AgentProgram, Around } from '../agentProgram.js';

/** For opencode, and for Kilo, which is made from it. */
export function scriptedProvider({ modelUrl }: Around): object {
  return {
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Scripted',
        options: { baseURL: `${modelUrl}/v1`, apiKey: 'scripted' },
        models: {
          scripted: {
            name: 'Scripted',
            attachment: true,
            modalities: { input: ['text', 'image'], output: ['text'] },
            limit: { context: 200_000, output: 8_000 },
          },
        },
      },
    },
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    permission: 'allow',
    autoupdate: false,
    share: 'disabled',
  };
}

export const opencode: AgentProgram = {
  id: 'opencode',
  title: 'opencode',
  entries: 'opencode',
  settle: () => {},
  start: (around, prompt) => ({
    args: ['run', '-m', 'scripted/scripted', prompt],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(scriptedProvider(around)),
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    },
  }),
  limits: {},
};
