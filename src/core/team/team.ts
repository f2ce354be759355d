/**
 * Parses `.minds/team.yaml` (D2). Never throws. A bad member or grant costs itself. Keys of other
 * programs stay.
 */
import { commaList } from '../base/text.js';
import { english } from '../base/language.js';
import type { Place, Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import { describe, NodeReader } from '../config/read/entryReader.js';
import { nearest } from '../base/nearest.js';
import type { SourceText } from '../config/model.js';
import { firstEntry, shortened } from '../config/problems.js';
import { readYamlFile } from '../config/read/yamlProblems.js';
import {
  isEmpty,
  textOf,
  type MapEntry,
  type ValueNode,
  type MapNode,
} from '../yaml/valueNodes.js';
import { type ConfiguredToolset, type Grant, grantOf } from './grants.js';

export type PlacedGrant = { readonly grant: Grant; readonly place: Place };

export interface Member {
  readonly id: string;
  readonly name: string;
  readonly purpose: string | undefined;
  readonly grants: readonly PlacedGrant[];
  readonly place: Place;
}

export interface Team {
  readonly file: string;
  readonly members: readonly Member[];
  /** The member for questions without a chosen member. */
  readonly spokesperson: string | undefined;
}

export type ParsedTeam = { readonly team: Team | undefined; readonly problems: readonly Problem[] };

const idRule = /^[a-zA-Z0-9_-]{1,64}$/;
const rootKeys = ['members', 'member_defaults', 'default_responder'];
const memberKeys = ['name', 'toolsets', 'gofor'];

export function parseTeam(source: SourceText): ParsedTeam {
  if (source.text === undefined) return { team: undefined, problems: [] };
  const { places, root, problems } = readYamlFile(source.file, source.text);
  if (!root) return { team: undefined, problems };
  const reader = new TeamReader(undefined, places);
  for (const warning of problems) reader.note(warning);
  const team = reader.read(root);
  return { team: team && { file: source.file, ...team }, problems: reader.whole(source.file) };
}

class TeamReader extends NodeReader {
  read(root: ValueNode): Omit<Team, 'file'> | undefined {
    if (isEmpty(root)) return { members: [], spokesperson: undefined };
    const fix = 'Begin the file with `members:` and a key for each member below it.';
    if (root.kind !== 'map') {
      const given = {
        what: 'The file',
        expected: 'a map',
        found: describe(root),
        fix,
      };
      return this.report('wrong-type', this.places.visible(root.span), given);
    }
    this.checkKeys(root, rootKeys);
    const entry = root.entries.get('members');
    const table = this.memberTable(
      root.entries.get('member_defaults'),
      'Write `toolsets:` with a list below it.',
    );
    const defaults = this.grantsIn(table);
    if (!entry || isEmpty(entry.value)) return { members: [], spokesperson: undefined };
    const members = this.map(entry, 'Write each member as a separate key under `members:`.');
    if (!members) return undefined;
    this.noteDuplicates(members);
    const read = [...members.entries.values()].flatMap(
      (member) => this.member(member, defaults ?? []) ?? [],
    );
    return { members: read, spokesperson: this.spokesperson(root, read) };
  }

  private member(entry: MapEntry, defaults: readonly PlacedGrant[]): Member | undefined {
    const place = this.places.key(entry);
    if (!idRule.test(entry.key))
      return this.report('member-id-invalid', place, { id: shortened(entry.key) });
    const { key: id } = entry;
    if (isEmpty(entry.value))
      return {
        id,
        name: id,
        purpose: undefined,
        grants: defaults,
        place,
      };
    const table = this.memberTable(
      entry,
      english`Write its keys below \`${id}:\`.`,
      english`Member \`${id}\``,
    );
    if (!table) return undefined;
    const name = wordOf(table.entries.get('name')?.value) ?? id;
    const purpose = lineOf(table.entries.get('gofor')?.value);
    return {
      id,
      name,
      purpose,
      grants: this.grantsIn(table) ?? defaults,
      place,
    };
  }

  private memberTable(
    entry: MapEntry | undefined,
    fix: string,
    what?: string,
  ): MapNode | undefined {
    const table = this.map(entry, fix, describe, what);
    if (!table) return undefined;
    this.noteDuplicates(table);
    this.checkKeys(table, memberKeys);
    return table;
  }

  private grantsIn(table: MapNode | undefined): readonly PlacedGrant[] | undefined {
    const entry = table?.entries.get('toolsets');
    if (!entry) return undefined;
    const fix = 'Write a list of toolset ids, for example `toolsets: [browser, files]`.';
    const grants = (this.list(entry, fix)?.items ?? []).flatMap((item): PlacedGrant[] => {
      const place = this.places.item(entry, item);
      const text = wordOf(item);
      const grant = text === undefined ? undefined : grantOf(text);
      if (grant && (grant.kind === 'all' || grant.id !== '')) return [{ grant, place }];
      const given = {
        what: 'An item of `toolsets`',
        expected: 'a toolset id',
        found: describe(item),
        fix,
      };
      this.report('wrong-type', place, given);
      return [];
    });
    const grantsAll = grants.some(({ grant }) => grant.kind === 'all');
    const granted = new Set(
      grants.flatMap(({ grant }) => (grant.kind === 'toolset' ? [grant.id] : [])),
    );
    for (const { grant, place } of grantsAll ? [] : grants) {
      if (grant.kind !== 'except' || granted.has(grant.id)) continue;
      this.report('grant-without-effect', place, { id: shortened(grant.id) });
    }
    return grants;
  }

  private spokesperson(root: MapNode, members: readonly Member[]): string | undefined {
    const entry = root.entries.get('default_responder');
    if (!entry || isEmpty(entry.value)) return undefined;
    const id = wordOf(entry.value) ?? '';
    if (members.some((member) => member.id === id)) return id;
    const meant = nearest(
      id,
      members.map((member) => member.id),
    );
    const fix =
      meant === undefined ? 'Write the id of one of the `members`.' : english`Write \`${meant}\`.`;
    return this.report('member-unknown', entry, { id: shortened(id), fix });
  }

  /** Only misspelt keys of ours are reported, because the file has keys for other programs too. */
  private checkKeys(table: MapNode, known: readonly string[]): void {
    for (const entry of table.entries.values()) {
      if (this.room === 0) return;
      const meant =
        known.includes(entry.key) || entry.key.length < 5 ? undefined : nearest(entry.key, known);
      if (meant === undefined || table.entries.has(meant)) continue;
      this.report('unknown-key:ofTeam', this.places.key(entry), {
        key: shortened(entry.key),
        meant,
      });
    }
  }
}

function wordOf(node: ValueNode | undefined): string | undefined {
  return textOf(node)?.trim() || undefined;
}

function lineOf(node: ValueNode | undefined): string | undefined {
  if (!node) return undefined;
  const entries = node.kind === 'map' ? [...node.entries.values()] : [];
  const items = node.kind === 'list' ? node.items : [node];
  const words = items.flatMap((item) => wordOf(item) ?? []);
  const texts = [...entries.map(({ key, value }) => `${key}: ${wordOf(value) ?? ''}`), ...words];
  return texts.join('; ').replace(/\s+/g, ' ').trim().slice(0, 1000) || undefined;
}

function toolsetUnknown(place: Place, id: string, ids: readonly string[]): Problem {
  const meant = nearest(id, ids);
  // Other programs with this file may have separate toolsets.
  const known = commaList(ids.map((one) => `\`${one}\``));
  const otherwise =
    known === ''
      ? 'Add the server to `.minds/mcp.yaml`, or remove the item.'
      : english`Add the server to \`.minds/mcp.yaml\`, or write one of ${known}.`;
  const fix = meant === undefined ? otherwise : english`Write \`${meant}\`.`;
  return problemOf('toolset-unknown', place, { id: shortened(id), fix });
}

/**
 * A problem at each grant of a missing toolset. @param passing toolsets with starting servers cause
 * no problem
 */
export function grantProblems(
  teams: readonly Team[],
  configured: readonly ConfiguredToolset[],
  passing: ReadonlySet<string>,
): Problem[] {
  const byId = new Map(configured.map((toolset) => [toolset.id, toolset]));
  const grants = teams.flatMap(({ members }) => members).flatMap((member) => member.grants);
  // The defaults are in the file once and count for many members. An alias repeats a list.
  const byPlace = new Map(grants.map((placed) => [JSON.stringify(placed.place), placed]));
  return [...byPlace.values()].flatMap(({ grant, place }) => {
    if (grant.kind === 'all') return [];
    const toolset = byId.get(grant.id);
    if (!toolset) return [toolsetUnknown(place, grant.id, [...byId.keys()])];
    const isDeferred =
      grant.kind === 'toolset' && toolset.down !== undefined && !passing.has(grant.id);
    return isDeferred
      ? [problemOf('toolset-deferred', place, { id: toolset.id, state: toolset.down ?? 'up' })]
      : [];
  });
}

/** Merges the members of all folders. An id counts once, and the earlier folder has it. */
export function mergedTeams(teams: readonly Team[]): {
  readonly teams: readonly Team[];
  readonly problems: Problem[];
} {
  const first = new Map<string, Place>();
  const problems: Problem[] = [];
  const isFirst = ({ id, place }: Member): boolean => {
    const earlier = first.get(id);
    if (earlier) {
      const related = firstEntry(earlier);
      problems.push(
        problemOf('member-in-other-folder', place, {
          id,
          file: earlier.file,
          related,
        }),
      );
    } else first.set(id, place);
    return earlier === undefined;
  };
  return {
    teams: teams.map((team) => ({ ...team, members: team.members.filter(isFirst) })),
    problems,
  };
}
