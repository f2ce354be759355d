import path from 'node:path';
import type { AgentProgram } from '../agentProgram.js';

export const qwenCode: AgentProgram = {
  id: 'qwen-code',
  title: 'Qwen Code',
  entries: 'qwen-code',
  settle: ({ folder, home }, write) => {
    write(path.join(home, '.qwen', 'settings.json'), {
      security: { auth: { selectedType: 'openai' } },
      tools: { toolSearch: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false },
    });
    write(path.join(home, '.qwen', 'trustedFolders.json'), { [folder]: 'TRUST_FOLDER' });
  },
  start: ({ modelUrl }, prompt) => ({
    args: ['--yolo', '-p', prompt],
    env: {
      OPENAI_API_KEY: 'scripted',
      OPENAI_BASE_URL: `${modelUrl}/v1`,
      OPENAI_MODEL: 'qwen3-vl-plus',
    },
  }),
  limits: { change: 'it lists the tools once' },
};
