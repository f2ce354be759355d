/** The problems of `.minds/team.yaml`, one factory a code, and those that only show against what is configured. */
import type { Place, Problem, ProblemCode, Severity } from '../base/problem.js';
import { nearest } from '../config/keys.js';
import { shortened } from '../config/problems.js';
import type { ConfiguredToolset } from './grants.js';
import type { Team } from './team.js';

function problem(code: ProblemCode, severity: Severity, place: Place, message: string, fix: string): Problem {
  return { code, severity, place, message, fix };
}

export function memberIdInvalid(place: Place, id: string): Problem {
  const message = `Member id \`${shortened(id)}\` may hold only ASCII letters, digits, \`_\` and \`-\`, 1 to 64 of them.`;
  return problem('member-id-invalid', 'error', place, message, 'Rename the member; `name:` may be any text.');
}

export function memberUnknown(place: Place, id: string, meant: string | undefined): Problem {
  const message = `There is no member \`${shortened(id)}\`.`;
  const fix = meant === undefined ? 'Write the id of one of the `members`.' : `Write \`${meant}\`.`;
  return problem('member-unknown', 'error', place, message, fix);
}

export function memberInOtherFolder(place: Place, id: string, first: Place): Problem {
  const message = `Member \`${id}\` is already in \`${first.file}\`; this entry is left out.`;
  const related = [{ message: 'The first entry is here.', place: first }];
  return { ...problem('member-in-other-folder', 'error', place, message, 'Rename one of the two.'), related };
}

export function keyMisspelt(place: Place, key: string, meant: string): Problem {
  const message = `Unknown key \`${shortened(key)}\`; did you mean \`${meant}\`?`;
  return problem('unknown-key', 'warning', place, message, `Rename it to \`${meant}\`.`);
}

export function grantWithoutEffect(place: Place, id: string): Problem {
  const message = `\`!${shortened(id)}\` takes away what this list does not grant.`;
  const fix = "Begin the list with `'*'` to grant every other toolset, or remove the item.";
  return problem('grant-without-effect', 'warning', place, message, fix);
}

export function toolsetUnknown(place: Place, id: string, ids: readonly string[]): Problem {
  const meant = nearest(id, ids);
  const message = `There is no toolset \`${shortened(id)}\`: no config file has a server of that id.`;
  const fix =
    meant !== undefined
      ? `Write \`${meant}\`.`
      : ids.length > 0
        ? `Add the server to \`.minds/mcp.yaml\`, or write one of ${ids.map((known) => `\`${known}\``).join(', ')}.`
        : 'Add the server to `.minds/mcp.yaml`, or remove the item.';
  return problem('toolset-unknown', 'error', place, message, fix);
}

export function toolsetDeferred(place: Place, { id, down }: ConfiguredToolset): Problem {
  const message = `Toolset \`${id}\` has no tools now: its server is ${down ?? 'up'}. The member has them as soon as it is up.`;
  const fix = 'Nothing, if that is meant; else see the problems of the server.';
  return problem('toolset-deferred', 'information', place, message, fix);
}

/**
 * What of the grants is not there, at each item that says so.
 * @param passing toolsets whose servers are on their way, of which nothing is said
 */
export function grantProblems(
  teams: readonly Team[],
  configured: readonly ConfiguredToolset[],
  passing: ReadonlySet<string>,
): Problem[] {
  const byId = new Map(configured.map((toolset) => [toolset.id, toolset]));
  const told = new Set<string>();
  const found: Problem[] = [];
  for (const { members } of teams) {
    for (const { grant, place } of members.flatMap(({ grants }) => grants)) {
      if (grant.kind === 'all') continue;
      // Defaults stand once in the file and count for many members.
      const key = `${place.file}:${place.range.start.line}:${place.range.start.character}`;
      if (told.has(key)) continue;
      told.add(key);
      const toolset = byId.get(grant.id);
      if (!toolset) found.push(toolsetUnknown(place, grant.id, [...byId.keys()]));
      else if (grant.kind === 'toolset' && toolset.down !== undefined && !passing.has(grant.id)) {
        found.push(toolsetDeferred(place, toolset));
      }
    }
  }
  return found;
}

/** The members of all folders, an id once; the earlier folder has it. */
export function mergedTeams(teams: readonly Team[]): { readonly teams: readonly Team[]; readonly problems: Problem[] } {
  const first = new Map<string, Place>();
  const problems: Problem[] = [];
  const merged = teams.map((team) => ({
    ...team,
    members: team.members.filter(({ id, place }) => {
      const earlier = first.get(id);
      if (earlier) problems.push(memberInOtherFolder(place, id, earlier));
      else first.set(id, place);
      return earlier === undefined;
    }),
  }));
  return { teams: merged, problems };
}
