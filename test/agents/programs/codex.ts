import path from 'node:path';
import type { AgentProgram } from '../agentProgram.js';

export const codex: AgentProgram = {
  id: 'codex',
  title: 'Codex',
  entries: 'codex',
  takesVariable: false,
  settle: ({ folder, home, modelUrl }, write) => {
    write(
      path.join(home, '.codex', 'config.toml'),
      [
        'model = "scripted"',
        'model_provider = "scripted"',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${modelUrl}/v1"`,
        'wire_api = "responses"',
        `[projects."${folder}"]`,
        'trust_level = "trusted"',
        '',
      ].join('\n'),
    );
  },
  start: (_, prompt) => ({
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    env: {},
  }),
  pastime: { tool: 'exec_command', args: { cmd: 'sleep 0.2' } },
  limits: { change: 'it lists the tools once' },
};
