/** `mcp-toolsets explain`: says on which roads agents get a tool, and why not on the others. */
import path from 'node:path';
import {
  askedNote,
  explain,
  type ExplainedTool,
  type RoadAnswer,
} from '../core/catalogue/explain.js';
import { exclusionPhrase, exclusionRemedy } from '../core/tools/exclusion.js';
import {
  compilePermissions,
  permissionOf,
  type PermissionRules,
} from '../core/tools/permissions.js';
import { readTeam } from './configFile.js';
import type { Options, Words } from './options.js';
import { PersonsPermissions } from './toolPermissions.js';
import { complain, print, toJson } from './output.js';
import { positionText } from './render.js';
import type { Run } from './withEngine.js';
import { withSnapshot } from './withSnapshot.js';

/** The exit code is 0 if some agent gets a tool of this name. */
export function explainTool(run: Run, [name = '']: Words, options: Options): Promise<number> {
  // `check` reports the problems of the team file.
  const members = readTeam(run.folder).team?.members ?? [];
  // The editor does not read these permissions, and the snapshot of `serve` has them for all roads.
  const { rules } = run.permissions;
  const permissions = compilePermissions(rules);
  return withSnapshot(
    { ...run, permissions: PersonsPermissions.none },
    options,
    (snapshot) => {
      const { tools: found, silent } = explain(name, snapshot, members);
      const tools = found.map((tool) => ({
        ...tool,
        roads: tool.roads.map((road) => permitted(road, tool, permissions)),
      }));
      if (run.json) print(toJson({ tools, silent }));
      else if (tools.length > 0) print(tools.map((tool) => textOf(tool, run.folder)).join('\n\n'));
      if (tools.length === 0) {
        const isToolset = snapshot.servers.some(({ id }) => id === name);
        const hint = isToolset
          ? ` \`mcp-toolsets tools ${name}\` lists those of this toolset.`
          : '';
        complain(`No server lists a tool that is called "${name}".${hint}`);
        for (const line of silent) complain(line);
      }
      return tools.some(({ roads }) => roads.some(({ offered }) => offered)) ? 0 : 1;
    },
    rules.every((rule) => Object.keys(rule).length === 0),
  );
}

function permitted(
  answer: RoadAnswer,
  { original }: ExplainedTool,
  rules: PermissionRules,
): RoadAnswer {
  if (answer.road !== 'other agents' || !answer.offered) return answer;
  const { road, name } = answer;
  const { permission, pattern = name } = permissionOf({ original, published: name }, rules);
  const denied = {
    kind: 'denied',
    pattern,
    published: name,
  } as const;
  if (permission === 'deny')
    return {
      road,
      offered: false,
      why: exclusionPhrase(denied),
      fix: exclusionRemedy(denied),
    };
  return permission === 'ask' ? { ...answer, note: askedNote } : answer;
}

function textOf({ server, original, roads }: ExplainedTool, folder: string): string {
  const width = roads.reduce((most, { road }) => Math.max(most, road.length), 0);
  const lines = roads.map(
    (answer) => `  ${answer.road.padEnd(width)}  ${answerText(answer, folder)}`,
  );
  return [`${original} of ${server}`, ...lines].join('\n');
}

function answerText(answer: RoadAnswer, folder: string): string {
  if (answer.offered)
    return `offered as ${answer.name}${answer.note === undefined ? '' : `, ${answer.note}`}`;
  const { why, fix, place } = answer;
  return `not offered: ${why}${place ? ` (${positionText(place, path.relative(folder, place.file))})` : ''}. ${fix}`;
}
