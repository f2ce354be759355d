import path from 'node:path';
import type { AgentProgram } from '../agentProgram.js';

export const continueCli: AgentProgram = {
  id: 'continue',
  title: 'Continue',
  entries: 'continue',
  settle: ({ home, modelUrl }, write) => {
    write(
      path.join(home, '.continue', 'config.yaml'),
      [
        'name: scripted',
        'version: 1.0.0',
        'schema: v1',
        'models:',
        '  - name: scripted',
        '    provider: openai',
        '    model: gpt-4o',
        '    apiKey: scripted',
        `    apiBase: ${modelUrl}/v1`,
        '    roles: [chat]',
        '    capabilities: [tool_use, image_input]',
        '',
      ].join('\n'),
    );
  },
  start: ({ home }, prompt) => ({
    args: ['-p', '--auto', prompt],
    env: {
      CONTINUE_GLOBAL_DIR: path.join(home, '.continue'),
      CONTINUE_CLI_AUTO_UPDATED: '1',
      CONTINUE_TELEMETRY_ENABLED: '0',
      CONTINUE_METRICS_ENABLED: '0',
    },
  }),
  limits: { change: 'it lists the tools once', long: 'it gives a call 60 s' },
};
