import type { AgentProgram } from '../agentProgram.js';
import { scriptedProvider } from './opencode.js';

export const kilo: AgentProgram = {
  id: 'kilo',
  title: 'Kilo',
  entries: 'kilo',
  settle: () => {},
  start: (around, prompt) => ({
    args: ['run', '--auto', '-m', 'scripted/scripted', prompt],
    env: {
      KILO_CONFIG_CONTENT: JSON.stringify(scriptedProvider(around)),
      KILO_DISABLE_MODELS_FETCH: '1',
      KILO_DISABLE_AUTOUPDATE: '1',
      KILO_TELEMETRY_LEVEL: 'off',
    },
  }),
  limits: {},
};
