/** The checked agents, and the others with reasons. */
import type { AgentProgram } from './agentProgram.js';
import { claudeCode } from './programs/claudeCode.js';
import { cline, clineWithAll } from './programs/cline.js';
import { continueCli } from './programs/continue.js';
import { codex, codexOf2026 } from './programs/codex.js';
import { copilotCli, copilotCliBesideClaudeCode } from './programs/copilotCli.js';
import { kilo } from './programs/kilo.js';
import { qwenCode } from './programs/qwenCode.js';
import { geminiCli } from './programs/geminiCli.js';
import { opencode } from './programs/opencode.js';

export const agentPrograms: readonly AgentProgram[] = [
  claudeCode,
  codex,
  codexOf2026,
  copilotCli,
  copilotCliBesideClaudeCode,
  opencode,
  kilo,
  geminiCli,
  qwenCode,
  cline,
  clineWithAll,
  continueCli,
];

const noPackage = 'it is an editor of its own, and no package of a registry';

export const notRun = {
  Cursor: noPackage,
  Windsurf: noPackage,
  Antigravity: noPackage,
} as const;
