/**
 * Several config files as one model (C4, C5): order of the files, then order in the file. A file whose reload is
 * refused keeps what it last had. An id of a higher source shadows it in a lower one of the same folder and in the user's
 * file; in another folder it is a problem there.
 *
 * Invariants: an id is in the model once; nothing of a refused text gets in; a file that is no longer a source leaves
 * nothing behind.
 */
import type { Place, Problem } from '../../base/problem.js';
import {
  isEnabled,
  type ConfigModel,
  type ConfigDeps,
  type ConfiguredServer,
  type ParsedSource,
  type SourceText,
} from '../model.js';
import { parseMcprc } from './mcprc.js';
import { parseMindsFile } from './parse.js';
import { idInOtherFolder, serverShadowed } from '../problems.js';

type AcceptedSource = Extract<ParsedSource, { kind: 'accepted' }>;

interface MergedSources {
  readonly model: ConfigModel;
  readonly problems: readonly Problem[];
  /** The files whose present text is refused; the model has their servers from an earlier text. */
  readonly refused: readonly string[];
  /** The last accepted parse of each file, which is `previous` of the next merge. */
  readonly accepted: ReadonlyMap<string, AcceptedSource>;
}

/** Merges parsed files, which are given in the order of precedence. Everything here is pure. */
export function mergeSources(
  parsed: readonly ParsedSource[],
  previous: ReadonlyMap<string, AcceptedSource>,
): MergedSources {
  const problems: Problem[] = [];
  const refused: string[] = [];
  const accepted = new Map<string, AcceptedSource>();
  const servers = new Map<string, { readonly server: ConfiguredServer; readonly folder: string }>();
  const shadowed = new Map<string, Place[]>();
  for (const source of parsed) {
    for (const found of source.problems) problems.push(found);
    if (source.kind === 'refused') refused.push(source.file);
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
      const place = placesOf(server).key;
      const spot = { place, server: server.id };
      const holder = placesOf(held.server).key;
      if (serving.origin === 'user' || serving.folder === held.folder) {
        problems.push(serverShadowed(spot, server.id, holder));
        shadowed.set(server.id, [...(shadowed.get(server.id) ?? []), place]);
      } else {
        const found = idInOtherFolder(spot, server.id, holder);
        problems.push(isEnabled(server) ? found : { ...found, severity: 'information' });
      }
    }
  }
  const model = { servers: [...servers.values()].map(({ server }) => server), shadowed };
  return { model, problems, refused, accepted };
}

/** Remembers the last accepted parse of each file. */
export class ConfigState {
  private accepted: ReadonlyMap<string, AcceptedSource> = new Map();

  /** Takes all sources that there are now; one that is not among them is forgotten, and a file that is listed twice counts once. */
  apply(sources: readonly SourceText[], deps: ConfigDeps): Omit<MergedSources, 'accepted'> {
    const byFile = new Map<string, SourceText>();
    for (const source of sources) if (!byFile.has(source.file)) byFile.set(source.file, source);
    const parsed = [...byFile.values()].map((source) => parseSource(source, deps));
    const { accepted, ...merged } = mergeSources(parsed, this.accepted);
    this.accepted = accepted;
    return merged;
  }
}

function parseSource(source: SourceText, deps: ConfigDeps): ParsedSource {
  return source.origin === 'mcprc' ? parseMcprc(source, deps) : parseMindsFile(source, deps);
}

function placesOf(server: ConfiguredServer): { readonly key: Place } {
  return server.kind === 'valid' ? server.definition.places : server.places;
}
