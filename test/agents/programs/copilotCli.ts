import path from 'node:path';
import type { AgentProgram } from '../agentProgram.js';

export const copilotCli: AgentProgram = {
  id: 'copilot-cli',
  title: 'Copilot CLI',
  entries: 'copilot-cli',
  settle: ({ folder, home }, write) => {
    write(path.join(home, '.copilot', 'config.json'), {
      trusted_folders: [folder],
      trustedFolders: [folder],
    });
  },
  start: ({ home, modelUrl }, prompt) => ({
    args: ['-p', prompt, '--allow-all-tools', '--no-color', '--log-dir', path.join(home, 'logs')],
    env: {
      COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
      COPILOT_PROVIDER_API_KEY: 'scripted',
      COPILOT_MODEL: 'claude-sonnet-4',
      COPILOT_OFFLINE: 'true',
      COPILOT_HOME: path.join(home, '.copilot'),
      COPILOT_AUTO_UPDATE: 'false',
    },
  }),
  limits: { image: 'it sends images only to models that it knows to see' },
};

/** The same by the entries for Claude Code, because it reads them too. */
export const copilotCliBesideClaudeCode: AgentProgram = {
  ...copilotCli,
  title: 'Copilot CLI by `.mcp.json`',
  entries: 'claude-code',
};
