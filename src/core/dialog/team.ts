/**
 * The text of `.minds/team.yaml` as members with their grants, and problems (spec D2). Keys that are others' business
 * (models, personas, folders) are left alone.
 *
 * Invariants: never throws; a refused file has an error; a bad member or grant costs itself. A member without a list of
 * its own has that of `member_defaults`.
 */
import type { Place, Problem } from '../base/problem.js';
import { describe, isEmpty } from '../config/entryReader.js';
import { nearest } from '../config/keys.js';
import type { SourceText } from '../config/model.js';
import { FilePlaces } from '../config/places.js';
import { duplicateKey, wrongType } from '../config/problems.js';
import { yamlProblems, yamlWarning } from '../config/yamlProblems.js';
import { readYaml, type YamlEntry, type YamlNode, type YamlTable } from '../config/yamlTree.js';
import { grantOf, type Grant } from './grants.js';
import * as problems from './teamProblems.js';

export interface PlacedGrant {
  readonly grant: Grant;
  readonly place: Place;
}

export interface Member {
  readonly id: string;
  /** As people call it; the id where nothing else is said. */
  readonly name: string;
  /** What it is there for, in one line. */
  readonly purpose: string | undefined;
  readonly grants: readonly PlacedGrant[];
  readonly place: Place;
}

export interface Team {
  readonly file: string;
  /** In file order. */
  readonly members: readonly Member[];
  /** Who answers where nobody was chosen. */
  readonly spokesperson: string | undefined;
}

export interface ParsedTeam {
  /** Undefined: the file is refused as a whole, or is not there. */
  readonly team: Team | undefined;
  readonly problems: readonly Problem[];
}

const idRule = /^[a-zA-Z0-9_-]{1,64}$/;
const rootKeys = ['members', 'member_defaults', 'default_responder'];
const memberKeys = ['name', 'toolsets', 'gofor'];

export function parseTeam(source: SourceText): ParsedTeam {
  if (source.text === undefined) return { team: undefined, problems: [] };
  const text = source.text.replace(/^\uFEFF/, '');
  const places = new FilePlaces(source.file, text);
  const reading = readYaml(text);
  const warnings = reading.warnings.map((warning) => yamlWarning(places, warning));
  if (reading.faults.length > 0) {
    return { team: undefined, problems: [...yamlProblems(places, reading.faults), ...warnings] };
  }
  const reader = new TeamReader(places, warnings);
  const team = reader.read(reading.root);
  return { team: team && { file: source.file, ...team }, problems: reader.problems };
}

class TeamReader {
  readonly problems: Problem[];

  constructor(
    private readonly places: FilePlaces,
    warnings: readonly Problem[],
  ) {
    this.problems = [...warnings];
  }

  read(root: YamlNode): Omit<Team, 'file'> | undefined {
    if (isEmpty(root)) return { members: [], spokesperson: undefined };
    const fix = 'Begin the file with `members:` and a key for each member below it.';
    if (root.kind !== 'map') {
      this.problems.push(
        wrongType({ place: this.places.visible(root.span) }, 'The file', 'a map', describe(root), fix),
      );
      return undefined;
    }
    this.checkKeys(root, rootKeys);
    const entry = root.entries.get('members');
    const defaults = this.defaultsOf(root.entries.get('member_defaults'));
    if (!entry || isEmpty(entry.value)) return { members: [], spokesperson: undefined };
    const members = this.map(entry, '`members`', 'Write each member as a key of its own under `members:`.');
    if (!members) return undefined;
    this.noteDuplicates(members);
    const read = [...members.entries.values()].flatMap((member) => this.member(member, defaults) ?? []);
    return { members: read, spokesperson: this.spokesperson(root, read) };
  }

  private member(entry: YamlEntry, defaults: readonly PlacedGrant[]): Member | undefined {
    const place = this.places.key(entry);
    if (!idRule.test(entry.key)) {
      this.problems.push(problems.memberIdInvalid(place, entry.key));
      return undefined;
    }
    const nobody = { id: entry.key, name: entry.key, purpose: undefined, grants: defaults, place };
    if (isEmpty(entry.value)) return nobody;
    const table = this.map(entry, `Member \`${entry.key}\``, `Write its keys below \`${entry.key}:\`.`);
    if (!table) return undefined;
    this.noteDuplicates(table);
    this.checkKeys(table, memberKeys);
    const toolsets = table.entries.get('toolsets');
    const name = scalarText(table.entries.get('name')?.value);
    return {
      ...nobody,
      name: name ?? entry.key,
      purpose: lineOf(table.entries.get('gofor')?.value),
      grants: toolsets ? this.grants(toolsets) : defaults,
    };
  }

  private defaultsOf(entry: YamlEntry | undefined): readonly PlacedGrant[] {
    if (!entry || isEmpty(entry.value)) return [];
    const table = this.map(entry, '`member_defaults`', 'Write `toolsets:` with a list below it.');
    if (!table) return [];
    this.noteDuplicates(table);
    this.checkKeys(table, memberKeys);
    const toolsets = table.entries.get('toolsets');
    return toolsets ? this.grants(toolsets) : [];
  }

  private grants(entry: YamlEntry): readonly PlacedGrant[] {
    if (isEmpty(entry.value)) return [];
    const fix = 'Write a list of toolset ids, for example `toolsets: [browser, files]`.';
    if (entry.value.kind !== 'list') {
      const found = describe(entry.value);
      this.problems.push(wrongType({ place: this.places.value(entry) }, '`toolsets`', 'a list', found, fix));
      return [];
    }
    const grants = entry.value.items.flatMap((item): PlacedGrant[] => {
      const place = this.places.item(entry, item);
      const text = scalarText(item);
      const grant = text === undefined ? undefined : grantOf(text);
      if (grant && (grant.kind === 'all' || grant.id !== '')) return [{ grant, place }];
      this.problems.push(wrongType({ place }, 'An item of `toolsets`', 'a toolset id', describe(item), fix));
      return [];
    });
    for (const { grant, place } of grants) {
      if (grant.kind === 'except' && !grantsAnything(grants, grant.id)) {
        this.problems.push(problems.grantWithoutEffect(place, grant.id));
      }
    }
    return grants;
  }

  private spokesperson(root: YamlTable, members: readonly Member[]): string | undefined {
    const entry = root.entries.get('default_responder');
    if (!entry || isEmpty(entry.value)) return undefined;
    const id = scalarText(entry.value) ?? '';
    if (members.some((member) => member.id === id)) return id;
    const ids = members.map((member) => member.id);
    this.problems.push(problems.memberUnknown(this.places.value(entry), id, nearest(id, ids)));
    return undefined;
  }

  private map(entry: YamlEntry, what: string, fix: string): YamlTable | undefined {
    if (entry.value.kind === 'map') return entry.value;
    this.problems.push(wrongType({ place: this.places.value(entry) }, what, 'a map', describe(entry.value), fix));
    return undefined;
  }

  private noteDuplicates(table: YamlTable): void {
    for (const { first, again } of table.duplicates) {
      this.problems.push(duplicateKey({ place: this.places.key(again) }, again.key, this.places.key(first)));
    }
  }

  /** Only what was probably meant to be one of ours is told: the file has keys for others too. */
  private checkKeys(table: YamlTable, known: readonly string[]): void {
    for (const entry of table.entries.values()) {
      if (known.includes(entry.key) || entry.key.length < 5) continue;
      const meant = nearest(entry.key, known);
      if (meant === undefined || table.entries.has(meant)) continue;
      this.problems.push(problems.keyMisspelt(this.places.key(entry), entry.key, meant));
    }
  }
}

function grantsAnything(grants: readonly PlacedGrant[], id: string): boolean {
  return grants.some(({ grant }) => grant.kind === 'all' || (grant.kind === 'toolset' && grant.id === id));
}

function scalarText(node: YamlNode | undefined): string | undefined {
  if (node?.kind !== 'scalar' || node.value === null) return undefined;
  const text = (typeof node.value === 'string' ? node.value : node.source).trim();
  return text === '' ? undefined : text;
}

/** A text, or a list or map of texts, in one line. */
function lineOf(node: YamlNode | undefined): string | undefined {
  if (!node) return undefined;
  const texts =
    node.kind === 'list'
      ? node.items.map(scalarText)
      : node.kind === 'map'
        ? [...node.entries.values()].map(({ key, value }) => `${key}: ${scalarText(value) ?? ''}`)
        : [scalarText(node)];
  const line = texts
    .filter((text) => text !== undefined)
    .join('; ')
    .replace(/\s+/g, ' ')
    .trim();
  return line === '' ? undefined : line.slice(0, 1000);
}
