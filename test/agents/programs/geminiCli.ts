import path from 'node:path';
import type { AgentProgram } from '../agentProgram.js';

export const geminiCli: AgentProgram = {
  id: 'gemini-cli',
  title: 'Gemini CLI',
  entries: 'gemini-cli',
  settle: ({ folder, home }, write) => {
    write(path.join(home, '.gemini', 'settings.json'), {
      security: { auth: { selectedType: 'gemini-api-key' } },
      telemetry: { enabled: false },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true },
    });
    write(path.join(home, '.gemini', 'trustedFolders.json'), { [folder]: 'TRUST_FOLDER' });
  },
  start: ({ modelUrl }, prompt) => ({
    args: ['--yolo', '-m', 'gemini-2.5-pro', '-p', prompt],
    env: { GEMINI_API_KEY: 'scripted', GOOGLE_GEMINI_BASE_URL: modelUrl },
  }),
  limits: {},
};
