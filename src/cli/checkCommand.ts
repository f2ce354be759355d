/** `mcp-toolsets check`: the problems of the config files and of the team file. */
import type { Problem } from '../core/base/problem.js';
import { configuredToolsets } from '../core/catalogue/configuredToolsets.js';
import { builtInToolset } from '../core/config/model.js';
import type { ConfiguredToolset } from '../core/team/grants.js';
import { grantProblems } from '../core/team/team.js';
import { readConfig, readTeam } from './configFile.js';
import type { Options, Words } from './options.js';
import { complain, print, report } from './output.js';
import { withServers, type Run } from './withEngine.js';

/** A folder that is named must have a config file: a slip in its name must not pass. */
export async function check(run: Run, _: Words, { start, folder }: Options): Promise<number> {
  const { sources, servers, problems } = readConfig(run);
  const { team, problems: ofTeam } = readTeam(run.folder);
  const reported = (found: readonly Problem[], toolsets: readonly ConfiguredToolset[]): number => {
    const ofGrants = grantProblems(team ? [team] : [], toolsets, new Set());
    return report(run.json, [...found, ...ofTeam, ...ofGrants]);
  };
  const isNamed = folder !== undefined;
  const isMissing = sources.every(
    ({ text, origin }) => text === undefined || (isNamed && origin === 'user'),
  );
  if (isMissing && problems.length === 0 && (isNamed || (!run.json && !team))) {
    const missing = `The file ${sources[0]?.file} does not exist, so nothing is configured.`;
    return isNamed ? complain(missing) : print(missing);
  }
  if (start) {
    return await withServers({ ...run, looks: true }, ({ host: { snapshot, catalogue } }) => {
      const code = reported(snapshot.problems, configuredToolsets(snapshot, catalogue.toolsets));
      return snapshot.servers.some(({ state }) => state.kind === 'pending') ? 1 : code;
    });
  }
  const all = [...servers, { id: builtInToolset }];
  return reported(
    problems,
    all.map(({ id }) => ({ id, down: undefined })),
  );
}
