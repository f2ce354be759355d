/** Explains on which roads agents get a tool, and why not on the others. Pure. */
import { altered, english } from '../base/language.js';
import type { StatusSnapshot } from '../reconcile/status.js';
import { serves } from '../reconcile/shortfall.js';
import type { ServedTool } from '../tools/catalogue.js';
import { agentHostName } from '../tools/editorNames.js';
import { editorRefusalPhrase, exclusionPhrase, exclusionRemedy } from '../tools/exclusion.js';
import type { ToolPermission } from '../tools/permissions.js';
import { grantedOf } from '../team/grants.js';
import type { Member } from '../team/team.js';
import type { Place, Problem } from '../base/problem.js';
import { whyNothing } from './admin.js';

type Road = 'editor' | 'agent sessions' | 'other agents' | `@minds as ${string}`;

export type RoadAnswer = { readonly road: Road } & (
  | {
      readonly offered: true;
      readonly name: string;
      readonly note?: string;
    }
  /** `why` is a phrase, and `fix` a sentence. `place` is that of the reason in a config file. */
  | {
      readonly offered: false;
      readonly why: string;
      readonly fix: string;
      readonly place?: Place;
    }
);

const askedNote = 'a person is asked before each call';
const argumentsNote = 'the arguments of a call decide about its permission';

/** Returns what a person should know about the permission of a tool. */
export function permissionNote(
  isAsked: boolean | undefined,
  otherwise: ToolPermission | undefined,
): string | undefined {
  if (isAsked) return askedNote;
  return otherwise && argumentsNote;
}

export interface ExplainedTool {
  readonly server: string;
  readonly original: string;
  readonly roads: readonly RoadAnswer[];
}

type ExplainedMember = Pick<Member, 'id' | 'grants'>;

/**
 * `silent` has sentences about the servers that may have the tool but list nothing now, if no tool
 * was found.
 * @param name any name of the tool, also with the prefix that an agent puts before it
 */
export function explain(
  name: string,
  { servers, problems, builtIn }: StatusSnapshot,
  members: readonly ExplainedMember[],
): { readonly tools: readonly ExplainedTool[]; readonly silent: readonly string[] } {
  const toolsets = [...servers, ...(builtIn ? [{ ...builtIn, placeOf: () => undefined }] : [])];
  const named = (fits: Fits): ExplainedTool[] =>
    toolsets.flatMap(({ id, tools, excluded, placeOf }) => {
      const hidden = problems.find(({ server, inEditor }) => server === id && inEditor === 0);
      const offered = tools
        .filter((tool) => namesOf(id, tool).some((own) => fits(own, name)))
        .map((tool) => ({
          server: id,
          original: tool.original,
          roads: roadsOf(id, tool, members, hidden),
        }));
      const left = excluded
        .filter(({ original, reason }) =>
          [original, ...('published' in reason ? [reason.published] : [])].some((own) =>
            fits(own, name),
          ),
        )
        .map((each): ExplainedTool => {
          const { original, reason } = each;
          const place = placeOf(each);
          const kept = {
            why: exclusionPhrase(reason),
            fix: exclusionRemedy(reason),
            ...(place && { place }),
          };
          const roads: Road[] = [
            'editor',
            'agent sessions',
            'other agents',
            ...members.map(roadOf),
          ];
          return {
            server: id,
            original,
            roads: roads.map((road) => ({
              road,
              offered: false,
              ...kept,
            })),
          };
        });
      return [...offered, ...left];
    });
  const exact = named((own, asked) => own === asked);
  const tools = exact.length > 0 ? exact : named(atTheEnd);
  const silent = servers
    .filter((server) => !serves(server) || server.offered === 0)
    .map((server) => whyNothing(server, problems));
  return { tools, silent: tools.length > 0 ? [] : silent };
}

type Fits = (own: string, asked: string) => boolean;

/** Agents put the name of their entry before a name, such as `mcp__files__read`. */
const atTheEnd: Fits = (own, asked) =>
  asked.endsWith(own) && /[^a-zA-Z0-9]$/.test(asked.slice(0, -own.length));

function namesOf(
  server: string,
  { original, published, editorName, editorId }: ServedTool,
): string[] {
  return [original, published, editorName, editorId, agentHostName(server, editorName)];
}

const roadOf = ({ id }: ExplainedMember): Road => `@minds as ${id}`;

/** @param hidden the problem because of which the editor shows no tool of the server */
function roadsOf(
  server: string,
  tool: ServedTool,
  members: readonly ExplainedMember[],
  hidden: Problem | undefined,
): RoadAnswer[] {
  const refusal = editorRefusalPhrase(tool);
  const note = permissionNote(tool.isAsked, tool.otherwise);
  const asked = note === undefined ? [] : [note];
  const not = (road: Road, why: string, fix: string): RoadAnswer => ({
    road,
    offered: false,
    why,
    fix,
  });
  const offered = (road: Road, name: string, notes = asked): RoadAnswer => ({
    road,
    offered: true,
    name,
    ...(notes.length > 0 && { note: notes.join(', ') }),
  });
  const inEditor = (road: Road, name: string, notes = asked): RoadAnswer =>
    refusal === undefined
      ? offered(road, name, notes)
      : not(road, refusal, 'Give it a shorter name by a transform, or have its schema corrected.');
  const hosted = agentHostName(server, tool.editorName);
  const newName = 'Give it another name by a transform, or give the server a shorter id.';
  return [
    hidden === undefined
      ? inEditor('editor', tool.editorId, [...asked, 'if the tool picker of the chat has it on'])
      : not(
          'editor',
          altered(hidden.message, (text) => text.replace(/\.$/, '')),
          hidden.fix,
        ),
    tool.noAgentHostName
      ? not('agent sessions', english`its name there, ${hosted}, is too long or taken`, newName)
      : inEditor('agent sessions', hosted),
    offered('other agents', tool.published),
    ...members.map((member): RoadAnswer => {
      const grants = member.grants.map(({ grant }) => grant);
      const isGranted = grantedOf(grants, [{ id: server, down: undefined }]).toolsets.length > 0;
      return isGranted
        ? offered(roadOf(member), tool.published)
        : not(
            roadOf(member),
            'the toolset is not granted',
            english`Add ${server} to its toolsets in team.yaml.`,
          );
    }),
  ];
}
