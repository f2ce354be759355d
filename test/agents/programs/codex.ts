import path from 'node:path';
import type { AgentProgram, Around, WriteFile } from '../agentProgram.js';

export const codex: AgentProgram = {
  id: 'codex',
  title: 'Codex',
  entries: 'codex',
  settle: (around, write) => settleModel(around, write),
  start: (_, prompt) => ({
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    env: {},
  }),
  pastime: { tool: 'exec_command', args: { cmd: 'sleep 0.2' } },
  limits: { change: 'it lists the tools once' },
};

/** The same with version 2026-07-28 of the protocol, if the server speaks it. */
export const codexOf2026: AgentProgram = {
  ...codex,
  title: 'Codex with its feature `mcp_2026_07_28`',
  settle: (around, write) => settleModel(around, write, ['[features]', 'mcp_2026_07_28 = true']),
};

function settleModel(
  { folder, home, modelUrl }: Around,
  write: WriteFile,
  more: readonly string[] = [],
): void {
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
      ...more,
      '',
    ].join('\n'),
  );
}
