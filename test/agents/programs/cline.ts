import path from 'node:path';
import type { AgentProgram } from '../agentProgram.js';

export const cline: AgentProgram = {
  id: 'cline',
  title: 'Cline',
  entries: 'cline',
  takesVariable: false,
  settle: ({ home, modelUrl }, write) => {
    const settings = {
      provider: 'openai-compatible',
      apiKey: 'scripted',
      model: 'scripted',
      baseUrl: `${modelUrl}/v1`,
    };
    write(path.join(home, '.cline', 'data', 'settings', 'providers.json'), {
      version: 1,
      lastUsedProvider: 'openai-compatible',
      modes: {},
      providers: {
        'openai-compatible': { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' },
      },
    });
  },
  start: (_, prompt) => ({ args: ['-P', 'openai-compatible', '-m', 'scripted', prompt], env: {} }),
  limits: { change: 'it lists the tools once' },
};
