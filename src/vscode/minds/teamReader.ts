/**
 * Gathers what reads team files into one module. It is loaded when there is such a file, because it brings the YAML parser
 * with it (P1).
 */
import type { Problem } from '../../core/base/problem.js';
import type { ConfiguredToolset } from '../../core/team/grants.js';
import { type Team, grantProblems, mergedTeams } from '../../core/team/team.js';

export { parseTeam } from '../../core/team/team.js';
export { mergedTeams };

export function problemsOf(
  teams: readonly Team[],
  configured: readonly ConfiguredToolset[],
  passing: ReadonlySet<string>,
): readonly Problem[] {
  const merged = mergedTeams(teams);
  return [...merged.problems, ...grantProblems(merged.teams, configured, passing)];
}
