/**
 * Merges config files (C5): an id shadows lower sources of its folder and the user's. Elsewhere it
 * is a problem.
 */
import type { Place, Problem } from '../../base/problem.js';
import { problemOf } from '../../base/problemOf.js';
import {
  isEnabled,
  startOfFile,
  type ConfigModel,
  type ConfigDeps,
  type ConfiguredServer,
  type ParsedSource,
  type SourceText,
} from '../model.js';
import { Layers } from './layers.js';
import { firstEntry } from '../problems.js';
import { fileUnreadable } from '../sources.js';

type AcceptedSource = Extract<ParsedSource, { kind: 'accepted' }>;

interface MergedSources {
  readonly model: ConfigModel;
  readonly problems: readonly Problem[];
  /** The files with a refused text. The model has their servers from an earlier text. */
  readonly refused: readonly string[];
  readonly accepted: ReadonlyMap<string, AcceptedSource>;
}

export function mergeSources(
  parsed: readonly ParsedSource[],
  previous: ReadonlyMap<string, AcceptedSource>,
): MergedSources {
  const problems: Problem[] = [];
  const refused: string[] = [];
  const accepted = new Map<string, AcceptedSource>();
  const servers = new Map<string, { readonly server: ConfiguredServer; readonly folder: string }>();
  const shadowed = new Map<string, Place[]>();
  for (const { kind, file } of parsed) if (kind === 'refused') refused.push(file);
  for (const source of parsed) {
    const { problems: found } = source;
    const present = source.kind === 'refused' ? found : inPresentText(found, refused);
    for (const one of present) problems.push(one);
    const serving = source.kind === 'accepted' ? source : previous.get(source.file);
    if (!serving) continue;
    accepted.set(source.file, serving);
    for (const server of serving.servers) {
      const held = servers.get(server.id);
      if (!held) {
        servers.set(server.id, { server, folder: serving.folder });
        continue;
      }
      // The places of a remembered parse do not fit the present text.
      if (source.kind === 'refused') continue;
      const place = server.places.key;
      const holder = held.server.places.key;
      const isShadowed = serving.origin === 'user' || serving.folder === held.folder;
      if (isShadowed) shadowed.set(server.id, [...(shadowed.get(server.id) ?? []), place]);
      problems.push(usedTwice(server, holder, isShadowed));
    }
  }
  const limit = limitOf([...accepted.values()]);
  const model = {
    servers: [...servers.values()].map(({ server }) => server),
    ...(limit && { limit }),
    shadowed,
  };
  return {
    model,
    problems,
    refused,
    accepted,
  };
}

function limitOf(sources: readonly AcceptedSource[]): AcceptedSource['limit'] {
  const limits = sources.filter(({ limit }) => limit !== undefined);
  return (limits.find(({ origin }) => origin === 'local') ?? limits[0])?.limit;
}

/** Places of an earlier text are wrong in the present one: only errors stay, at its beginning. */
export function inPresentText(
  problems: readonly Problem[],
  refused: readonly string[],
): readonly Problem[] {
  return problems.flatMap((problem) => {
    const { file } = problem.place;
    if (!refused.includes(file)) return [problem];
    return problem.severity === 'error'
      ? [{ ...problem, place: { file, range: startOfFile } }]
      : [];
  });
}

function usedTwice(server: ConfiguredServer, holder: Place, isShadowed: boolean): Problem {
  const { id, places } = server;
  const given = { id, file: holder.file };
  const found = isShadowed
    ? problemOf('server-shadowed', places.key, {
        ...given,
        related: [{ message: 'The entry that wins is here.', place: holder }],
      })
    : problemOf('id-in-other-folder', places.key, { ...given, related: firstEntry(holder) });
  return { ...found, server: id, severity: isEnabled(server) ? found.severity : 'information' };
}

interface ValidSource {
  readonly source: SourceText;
  readonly parsed: AcceptedSource;
}

export class ConfigState {
  /** By file. */
  private valid: ReadonlyMap<string, ValidSource> = new Map();
  /** The texts of the layers. */
  private layers = '';

  /** Takes all present sources and forgets any other. A file listed twice counts once. */
  apply(sources: readonly SourceText[], deps: ConfigDeps): Omit<MergedSources, 'accepted'> {
    const byFile = new Map<string, SourceText>();
    for (const source of sources) if (!byFile.has(source.file)) byFile.set(source.file, source);
    const present = [...byFile.values()];
    const parsing = { ...deps, finders: deps.findersFor?.(sources) };
    const layers = new Layers(parsing, present, (file) => this.valid.get(file)?.source);
    // Before the valid texts change.
    const { texts } = layers;
    const previous = new Map<string, AcceptedSource>();
    const read = new Map<SourceText, ParsedSource>();
    // The layers come last, because they lie over the others.
    const last = ({ origin }: SourceText): number => Number(origin === 'local');
    for (const source of present.toSorted((one, other) => last(one) - last(other))) {
      const reading = layers.read(source);
      const kept = reading.kind === 'refused' ? this.kept(source.file, layers) : undefined;
      if (kept) previous.set(source.file, kept);
      read.set(source, reading);
    }
    const parsed = present.flatMap((source) => read.get(source) ?? []);
    const { accepted, ...merged } = mergeSources(parsed, previous);
    this.valid = new Map(
      present.flatMap((one) => {
        const now = accepted.get(one.file);
        if (!now) return [];
        const source = (previous.has(one.file) && this.valid.get(one.file)?.source) || one;
        return [[one.file, { source, parsed: now }] as const];
      }),
    );
    this.layers = texts;
    const unreadable = present.flatMap(({ file, unreadable: reason }) =>
      reason === undefined ? [] : [fileUnreadable(file, reason, true)],
    );
    return { ...merged, problems: [...unreadable, ...merged.problems] };
  }

  /** Its values stay as they were read, unless a layer has changed (C7). */
  private kept(file: string, layers: Layers): AcceptedSource | undefined {
    const valid = this.valid.get(file);
    if (!valid) return undefined;
    const { source, parsed } = valid;
    const again = layers.read(source);
    return this.layers === layers.texts || again.kind === 'refused' ? parsed : again;
  }
}
