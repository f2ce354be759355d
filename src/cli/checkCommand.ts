/** `mcp-toolsets check`: the problems of the config files and of the team file. */
import type { Problem } from '../core/base/problem.js';
import { configuredToolsets } from '../core/catalogue/configuredToolsets.js';
import { builtInToolset } from '../core/config/model.js';
import { FolderLocks } from '../core/lock/folderLocks.js';
import type { Toolset } from '../core/tools/catalogue.js';
import { estimatedTokensOf } from '../core/tools/tokens.js';
import type { ConfiguredToolset } from '../core/team/grants.js';
import { grantProblems } from '../core/team/team.js';
import { readConfig, readConfigFiles, readTeam } from './configFile.js';
import type { Options, Words } from './options.js';
import { complain, misuse, print, report } from './output.js';
import { withServers, type Run } from './withEngine.js';

/** A folder that is named must have a config file: a slip in its name must not pass. */
export async function check(run: Run, _: Words, options: Options): Promise<number> {
  const { start, folder, pinned, 'max-tokens': budget } = options;
  if (budget !== undefined && !(start && /^\d{1,9}$/.test(budget)))
    return misuse('--max-tokens takes a whole number, and needs --start.');
  const files = readConfigFiles(run);
  const { team, problems: ofTeam } = readTeam(run.folder);
  const problemsOf = (found: readonly Problem[], toolsets: readonly ConfiguredToolset[]) => {
    const ofGrants = grantProblems(team ? [team] : [], toolsets, new Set());
    const all = [...found, ...ofTeam, ...ofGrants];
    return all.flatMap(pinned ? asErrorIfNotPinned : unlessNotPinned);
  };
  const isNamed = folder !== undefined;
  const isMissing = files.sources.every(
    ({ text, unreadable, origin }) =>
      (text ?? unreadable) === undefined || (isNamed && origin === 'user'),
  );
  if (isMissing && files.problems.length === 0 && (isNamed || (!run.json && !team))) {
    const missing = `The file ${files.sources[0]?.file} does not exist, so nothing is configured.`;
    return isNamed ? complain(missing) : print(missing);
  }
  if (start) {
    return await withServers({ ...run, looks: true }, ({ host: { snapshot, catalogue } }) => {
      const { toolsets } = catalogue;
      const problems = problemsOf(snapshot.problems, configuredToolsets(snapshot, toolsets));
      const isOver = budget !== undefined && isOverBudget(toolsets, Number(budget));
      // "No problems." would contradict the sentence about the budget.
      const isSaid = isOver && problems.length === 0 && !run.json;
      const code = isSaid ? 1 : report(run.json, problems);
      const isPending = snapshot.servers.some(({ state }) => state.kind === 'pending');
      return isOver || isPending ? 1 : code;
    });
  }
  const { servers, problems } = readConfig(run, files);
  const all = [...servers, { id: builtInToolset }];
  const locks = new FolderLocks();
  locks.apply(files.sources);
  const toolsets = all.map(({ id }) => ({ id, down: undefined }));
  return report(run.json, problemsOf([...problems, ...locks.problems], toolsets));
}

function asErrorIfNotPinned(problem: Problem): Problem {
  return problem.code === 'version-not-pinned' ? { ...problem, severity: 'error' } : problem;
}

/** Most files leave versions open, and this command is for mistakes (C8). */
function unlessNotPinned(problem: Problem): readonly Problem[] {
  return problem.code === 'version-not-pinned' ? [] : [problem];
}

function isOverBudget(toolsets: readonly Toolset[], most: number): boolean {
  const sizes = toolsets.map(({ id, tools }) => ({ id, tokens: estimatedTokensOf(tools) }));
  const total = sizes.reduce((sum, { tokens }) => sum + tokens, 0);
  if (total <= most) return false;
  const largest = sizes.sort((one, other) => other.tokens - one.tokens);
  const named = largest.map(({ id, tokens }) => `${id} ~${tokens}`).join(', ');
  complain(
    `The tools cost ~${total} tokens in each request, over the budget of ${most}: ${named}.`,
  );
  return true;
}
