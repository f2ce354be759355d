/**
 * Merges config files (C5): an id shadows lower sources of its folder and the user's. Elsewhere it
 * is a problem.
 */
import type { Place, Problem } from '../../base/problem.js';
import { problemOf } from '../../base/problemOf.js';
import {
  isEnabled,
  type ConfigModel,
  type ConfigDeps,
  type ConfiguredServer,
  type InstanceLimit,
  type ParsedSource,
  type SourceText,
} from '../model.js';
import { parseMcprc } from './mcprc.js';
import { parseMindsFile } from './parse.js';
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
  let limit: InstanceLimit | undefined;
  for (const source of parsed) {
    for (const found of source.problems) problems.push(found);
    if (source.kind === 'refused') refused.push(source.file);
    const serving = source.kind === 'accepted' ? source : previous.get(source.file);
    if (!serving) continue;
    accepted.set(source.file, serving);
    limit ??= serving.limit;
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
      const given = { id: server.id, file: holder.file };
      const found = isShadowed
        ? problemOf('server-shadowed', place, {
            ...given,
            related: [{ message: 'The entry that wins is here.', place: holder }],
          })
        : problemOf('id-in-other-folder', place, { ...given, related: firstEntry(holder) });
      const severity = isEnabled(server) ? found.severity : 'information';
      problems.push({
        ...found,
        server: server.id,
        severity,
      });
    }
  }
  const model = {
    servers: [...servers.values()].map(({ server }) => server),
    ...(limit && { limit }),
    shadowed,
  };
  return { model, problems, refused, accepted };
}

export class ConfigState {
  private accepted: ReadonlyMap<string, AcceptedSource> = new Map();

  /** Takes all present sources and forgets any other. A file listed twice counts once. */
  apply(sources: readonly SourceText[], deps: ConfigDeps): Omit<MergedSources, 'accepted'> {
    const byFile = new Map<string, SourceText>();
    for (const source of sources) if (!byFile.has(source.file)) byFile.set(source.file, source);
    const parsing = { ...deps, programs: deps.findersFor?.(sources) };
    const parsed = [...byFile.values()].map((source) =>
      source.origin === 'mcprc' ? parseMcprc(source, parsing) : parseMindsFile(source, parsing),
    );
    const { accepted, ...merged } = mergeSources(parsed, this.accepted);
    this.accepted = accepted;
    const unreadable = [...byFile.values()].flatMap(({ file, unreadable: reason }) =>
      reason === undefined ? [] : [fileUnreadable(file, reason, true)],
    );
    return { ...merged, problems: [...unreadable, ...merged.problems] };
  }
}
