import path from 'node:path';
import type { AgentProgram, Around, WriteFile } from '../agentProgram.js';

export const cline: AgentProgram = {
  id: 'cline',
  title: 'Cline',
  entries: 'cline',
  settle: settleModel,
  start: (_, prompt) => ({ args: ['-P', 'openai-compatible', '-m', 'scripted', prompt], env: {} }),
  limits: {
    change: 'it lists the tools once',
    crash:
      'a process of its own that it leaves behind keeps the connection, so that the idle limit ends the instance',
  },
};

/** The same with one handwritten server for all toolsets. */
export const clineWithAll: AgentProgram = {
  ...cline,
  title: 'Cline with `connect` for all toolsets',
  entries: undefined,
  settle: (around, write) => {
    settleModel(around, write);
    write(path.join(around.home, '.cline', 'data', 'settings', 'cline_mcp_settings.json'), {
      mcpServers: { toolsets: { type: 'stdio', ...around.connect, timeout: 600 } },
    });
  },
};

function settleModel({ home, modelUrl }: Around, write: WriteFile): void {
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
      'openai-compatible': {
        settings,
        updatedAt: '2026-01-01T00:00:00.000Z',
        tokenSource: 'manual',
      },
    },
  });
}
