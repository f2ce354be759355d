/** `mcp-toolsets explain`: says on which roads agents get a tool, and why not on the others. */
import path from 'node:path';
import { asFields, type Fields } from '../core/base/isObject.js';
import { nearest } from '../core/base/nearest.js';
import {
  explain,
  permissionNote,
  type ExplainedTool,
  type RoadAnswer,
} from '../core/catalogue/explain.js';
import type { StatusSnapshot } from '../core/reconcile/status.js';
import type { ServedTool } from '../core/tools/catalogue.js';
import { exclusionPhrase, exclusionRemedy } from '../core/tools/exclusion.js';
import { completed } from '../core/tools/override.js';
import {
  compilePermissions,
  doubtNote,
  permissionOf,
  permissionOfAll,
  unknownArguments,
  type PermissionRules,
  type ToolPermission,
} from '../core/tools/permissions.js';
import { readTeam } from './configFile.js';
import { readObject, type Options, type Words } from './options.js';
import { PersonsPermissions } from './toolPermissions.js';
import { complain, print, toJson } from './output.js';
import { positionText } from './render.js';
import type { Run } from './withEngine.js';
import { withSnapshot } from './withSnapshot.js';

/** The exit code is 0 if some agent gets a tool of this name, and may make the given call. */
export async function explainTool(
  run: Run,
  [name = '', json]: Words,
  options: Options,
): Promise<number> {
  const input = json === undefined ? undefined : readObject('The arguments', json);
  if (typeof input === 'string') {
    complain(input);
    return 1;
  }
  // `check` reports the problems of the team file.
  const members = readTeam(run.folder).team?.members ?? [];
  // The editor does not read these permissions, and the snapshot of `serve` has them for all roads.
  const { rules } = run.permissions;
  const permissions = compilePermissions(rules);
  return await withSnapshot(
    { ...run, permissions: PersonsPermissions.none },
    options,
    (snapshot) => {
      const { tools: found, silent } = explain(name, snapshot, members);
      const tools = found.map((tool): Explained => {
        const served = servedTool(tool, snapshot);
        const hints = served ? hintsOf(served, permissions) : [];
        return {
          ...tool,
          roads: tool.roads.map((road) => permitted(road, tool, permissions)),
          ...(hints.length > 0 && { hints }),
          ...(input && served && { call: callOf(served, input, permissions) }),
        };
      });
      if (run.json) print(toJson({ tools, silent }));
      else if (tools.length > 0) print(tools.map((tool) => textOf(tool, run.folder)).join('\n\n'));
      if (tools.length === 0) {
        complain(`No server lists a tool that is called "${name}".${hintFor(name, snapshot)}`);
        for (const line of silent) complain(line);
      }
      const isUsable = ({ roads, call }: Explained) =>
        roads.some(({ offered }) => offered) && call?.permission !== 'deny';
      return tools.some(isUsable) ? 0 : 1;
    },
    // Another process sends no patterns of overrides.
    rules.every((rule) => Object.keys(rule).length === 0) && input === undefined,
  );
}

function hintFor(name: string, { servers }: StatusSnapshot): string {
  if (servers.some(({ id }) => id === name))
    return ` \`mcp-toolsets tools ${name}\` lists those of this toolset.`;
  const names = servers.flatMap(({ tools, excluded }) => [
    ...tools.flatMap(({ published, original }) => [published, original]),
    ...excluded.map(({ original }) => original),
  ]);
  const meant = nearest(name, names);
  return meant === undefined ? '' : ` Did you mean "${meant}"?`;
}

interface Explained extends ExplainedTool {
  readonly call?: ExplainedCall;
  /** Sentences about rules that match no call. */
  readonly hints?: readonly string[];
}

interface ExplainedCall {
  readonly permission: ToolPermission;
  readonly why: string;
}

function servedTool(
  { server, original }: ExplainedTool,
  { servers, builtIn }: StatusSnapshot,
): ServedTool | undefined {
  const toolset = builtIn?.id === server ? builtIn : servers.find(({ id }) => id === server);
  return toolset?.tools.find((one) => one.original === original);
}

/** A misspelt argument would make a rule that never matches. */
function hintsOf(served: ServedTool, rules: PermissionRules): string[] {
  const { inputSchema } = served.override?.offered ?? served.tool;
  const schema: Fields = inputSchema;
  // Other parts of a schema may have more arguments.
  const isPlain = ['$ref', 'allOf', 'anyOf', 'oneOf'].every((key) => schema[key] === undefined);
  const known = Object.keys(asFields(schema['properties']));
  if (!isPlain || known.length === 0) return [];
  return unknownArguments(served, rules, known).map(({ rule, argument }) => {
    const meant = nearest(argument, known);
    const question = meant === undefined ? '' : ` Did you mean "${meant}"?`;
    return `The rule "${rule}" may never match: no argument "${argument}" is in the schema.${question}`;
  });
}

/** Returns what the rules would do with the arguments of a call of other agents (S4e). */
function callOf(tool: ServedTool, input: Fields, rules: PermissionRules): ExplainedCall {
  const { override } = tool;
  const sent = override ? completed(override, input) : undefined;
  if (sent?.kind === 'refused') return { permission: 'deny', why: sent.message };
  const verdict = permissionOf(tool, rules, sent ? sent.arguments : input);
  const { permission, pattern, isInDoubt } = verdict;
  const why = pattern === undefined ? 'No rule is about it.' : `The rule "${pattern}" decides.`;
  return { permission, why: isInDoubt ? `${why} ${doubtNote}` : why };
}

function permitted(
  answer: RoadAnswer,
  { original }: ExplainedTool,
  rules: PermissionRules,
): RoadAnswer {
  if (answer.road !== 'other agents' || !answer.offered) return answer;
  const { road, name } = answer;
  const verdict = permissionOfAll({ original, published: name }, rules);
  const { permission, pattern = name, otherwise } = verdict;
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
  const note = permissionNote(permission === 'ask', otherwise);
  return note === undefined ? answer : { ...answer, note };
}

function textOf(explained: Explained, folder: string): string {
  const { server, original, roads, call, hints = [] } = explained;
  const width = roads.reduce((most, { road }) => Math.max(most, road.length), 0);
  const lines = roads.map(
    (answer) => `  ${answer.road.padEnd(width)}  ${answerText(answer, folder)}`,
  );
  const ofCall = call ? [`This call: ${call.permission}. ${call.why}`] : [];
  return [`${original} of ${server}`, ...lines, ...ofCall, ...hints].join('\n');
}

function answerText(answer: RoadAnswer, folder: string): string {
  if (answer.offered)
    return `offered as ${answer.name}${answer.note === undefined ? '' : `, ${answer.note}`}`;
  const { why, fix, place } = answer;
  return `not offered: ${why}${place ? ` (${positionText(place, path.relative(folder, place.file))})` : ''}. ${fix}`;
}
