/** `mcp-toolsets approve`: shows what servers would start that nobody has approved, and approves it when the person agrees (S1). */
import { readConfigFiles } from './configFile.js';
import { FolderApprovals } from './folderApprovals.js';
import { Interruption } from './interruption.js';
import { complain, complainOf, print, toJson } from './output.js';
import { inOrder, isOfFile } from './render.js';
import { isTerminal } from './terminalQuestion.js';
import { configDeps, type Run } from './withHost.js';
import { ConfigState } from '../core/config/merge.js';

/** @param names of servers; all that wait where there are none */
export async function approve(run: Run, names: readonly string[], yes: boolean): Promise<number> {
  const { sources, problems } = readConfigFiles(run.folder);
  const { model, problems: found } = new ConfigState().apply(sources, configDeps);
  const wrong = [...problems, ...found].filter(
    (problem) => isOfFile(problem) || (problem.severity === 'error' && names.includes(problem.server ?? '')),
  );
  complainOf(inOrder(wrong));
  const unknown = names.filter((name) => !model.servers.some(({ id }) => id === name));
  for (const name of unknown) complain(`There is no server "${name}".`);
  if (wrong.length > 0 || unknown.length > 0) return 1;
  const approvals = await FolderApprovals.open(run.folder);
  const interruption = new Interruption();
  try {
    const wanted = model.servers.filter(({ id }) => names.length === 0 || names.includes(id));
    const waiting = approvals.waiting(wanted);
    if (waiting.length === 0) return run.json ? print('[]') : print('No server waits for approval.');
    if (run.json) print(toJson(waiting));
    if (yes || !isTerminal()) {
      if (!run.json) print(approvals.review(waiting));
      if (!yes)
        return complain('Nothing is approved: whether these may start is asked at a terminal, or said by --yes.');
    } else if (!(await approvals.agrees(waiting, interruption.signal))) {
      return complain('Nothing is approved.');
    }
    if (!(await approvals.approve(waiting))) return 1;
    return run.json ? 0 : print(`Approved: ${waiting.map(({ server }) => server).join(', ')}.`);
  } finally {
    interruption.dispose();
    approvals.dispose();
  }
}
