import path from 'node:path';
import type { AgentProgram } from '../agentProgram.js';

export const claudeCode: AgentProgram = {
  id: 'claude-code',
  title: 'Claude Code',
  entries: 'claude-code',
  settle: ({ folder, home }, write) => {
    write(path.join(home, '.claude.json'), {
      hasCompletedOnboarding: true,
      projects: { [folder]: { hasTrustDialogAccepted: true } },
    });
    write(path.join(home, '.claude', 'settings.json'), { enableAllProjectMcpServers: true });
  },
  start: ({ modelUrl }, prompt) => ({
    args: ['-p', prompt, '--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5'],
    env: {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: 'scripted',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ENABLE_TOOL_SEARCH: 'false',
      IS_SANDBOX: '1',
    },
  }),
  pastime: { tool: 'Bash', args: { command: 'sleep 0.2', description: 'Wait' } },
  limits: {},
};
