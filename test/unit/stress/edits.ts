/**
 * Config files as a model, and random edits of them: by a person, a branch switch or a bad merge.
 */
import type { Random } from './random.js';

export type Step =
  | { readonly prefix: string }
  | { readonly suffix: string }
  | { readonly prefix: { remove: string; add: string } };

export interface EntryModel {
  readonly id: string;
  /** Decides the server's list and whether it starts. */
  readonly program: string;
  /** Another value is another launch of the same program. */
  readonly nonce: number;
  readonly stateless: boolean;
  readonly enabled: boolean;
  /** Makes the entry wrong: an empty command, or a host variable without a value. */
  readonly fault: 'command' | 'variable' | undefined;
  readonly whitelist: readonly string[];
  readonly blacklist: readonly string[];
  readonly transform: readonly Step[];
}

export interface FileModel {
  readonly entries: readonly EntryModel[];
  /** The YAML is broken: `entries` count only after its repair. */
  readonly broken: boolean;
}

export const emptyFile: FileModel = { entries: [], broken: false };

export interface EditVocabulary {
  readonly ids: readonly string[];
  readonly programs: readonly string[];
  readonly patterns: readonly string[];
  readonly steps: readonly Step[];
}

const kinds = {
  add: 10,
  remove: 5,
  launch: 8,
  program: 8,
  stateless: 2,
  breakFile: 3,
  breakEntry: 5,
  reorder: 5,
  rename: 4,
  swap: 4,
  filter: 9,
  transform: 8,
  enable: 5,
  touch: 4,
  clear: 0.3,
};
export type EditKind = keyof typeof kinds | 'repairFile' | 'repairEntry';

export interface Edit {
  readonly kind: EditKind;
  readonly file: FileModel;
}

export function randomEntry(id: string, random: Random, vocabulary: EditVocabulary): EntryModel {
  return {
    id,
    program: random.pick(vocabulary.programs),
    nonce: random.int(3),
    stateless: random.chance(0.4),
    enabled: random.chance(0.9),
    fault: undefined,
    whitelist: random.chance(0.2) ? random.some(vocabulary.patterns, 2) : [],
    blacklist: random.chance(0.2) ? random.some(vocabulary.patterns, 2) : [],
    transform: random.chance(0.4) ? random.some(vocabulary.steps, 2) : [],
  };
}

export function randomEdit(before: FileModel, random: Random, vocabulary: EditVocabulary): Edit {
  if (before.broken && random.chance(0.6))
    return { kind: 'repairFile', file: { ...before, broken: false } };
  const { entries } = before;
  const edited = (kind: EditKind, next: readonly EntryModel[]): Edit => ({
    kind,
    file: { entries: next, broken: before.broken },
  });
  const faulty = entries.filter(({ fault }) => fault !== undefined);
  if (faulty.length > 0 && random.chance(0.3)) {
    const mended = random.pick(faulty);
    return edited('repairEntry', replaced(entries, mended, { fault: undefined }));
  }
  const free = vocabulary.ids.filter((id) => !entries.some((entry) => entry.id === id));
  let kind = random.weighted(kinds);
  if (entries.length === 0 && kind !== 'breakFile') kind = 'add';
  if (free.length === 0 && (kind === 'add' || kind === 'rename')) kind = 'remove';
  if (entries.length < 2 && (kind === 'swap' || kind === 'reorder')) kind = 'touch';
  if (kind === 'breakFile') return { kind, file: { ...before, broken: true } };
  if (kind === 'clear') return edited(kind, []);
  if (kind === 'touch') return edited(kind, entries);
  if (kind === 'reorder') return edited(kind, random.shuffled(entries));
  if (kind === 'add') {
    const at = random.int(entries.length + 1);
    const added = randomEntry(random.pick(free), random, vocabulary);
    return edited(kind, [...entries.slice(0, at), added, ...entries.slice(at)]);
  }
  const entry = random.pick(entries);
  switch (kind) {
    case 'remove':
      return edited(
        kind,
        entries.filter((other) => other !== entry),
      );
    case 'launch':
      return edited(
        kind,
        replaced(entries, entry, { nonce: (entry.nonce + 1 + random.int(2)) % 3 }),
      );
    case 'program':
      return edited(kind, replaced(entries, entry, { program: random.pick(vocabulary.programs) }));
    case 'stateless':
      return edited(kind, replaced(entries, entry, { stateless: !entry.stateless }));
    case 'breakEntry':
      return edited(
        kind,
        replaced(entries, entry, { fault: random.pick(['command', 'variable'] as const) }),
      );
    case 'rename':
      return edited(kind, replaced(entries, entry, { id: random.pick(free) }));
    case 'swap': {
      const other = random.pick(entries.filter((candidate) => candidate !== entry));
      return edited(
        kind,
        entries.map((each) =>
          each === entry
            ? { ...each, id: other.id }
            : each === other
              ? { ...each, id: entry.id }
              : each,
        ),
      );
    }
    case 'filter':
      return edited(
        kind,
        replaced(entries, entry, {
          whitelist: random.some(vocabulary.patterns, 2),
          blacklist: random.some(vocabulary.patterns, 2),
        }),
      );
    case 'transform':
      return edited(
        kind,
        replaced(entries, entry, { transform: random.some(vocabulary.steps, 2) }),
      );
    case 'enable':
      return edited(kind, replaced(entries, entry, { enabled: !entry.enabled }));
  }
}

function replaced(
  entries: readonly EntryModel[],
  entry: EntryModel,
  change: Partial<EntryModel>,
): EntryModel[] {
  return entries.map((each) => (each === entry ? { ...each, ...change } : each));
}

export const unsetVariable = 'NOT_SET_ANYWHERE';
export const launchVariable = 'LAUNCH_VARIABLE';

/** @param launch `command` and `args` of a valid entry */
export function textOf(
  file: FileModel,
  launch: (entry: EntryModel) => { readonly command: string; readonly args: readonly string[] },
  remark: string,
): string {
  const servers = Object.fromEntries(
    file.entries.map((entry) => {
      const { command, args } = launch(entry);
      return [
        entry.id,
        {
          transport: 'stdio',
          command: entry.fault === 'command' ? '' : command,
          args,
          enabled: entry.enabled,
          'truely-stateless': entry.stateless,
          env: {
            NONCE: String(entry.nonce),
            FROM_HOST: { env: entry.fault === 'variable' ? unsetVariable : launchVariable },
          },
          tools: { whitelist: entry.whitelist, blacklist: entry.blacklist },
          transform: entry.transform,
        },
      ];
    }),
  );
  const text = `# ${remark}\n${JSON.stringify({ version: 1, servers }, undefined, 1)}\n`;
  return file.broken ? `${text}: [` : text;
}
