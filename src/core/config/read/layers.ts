/**
 * The layers of persons, `mcp.local.yaml` (C7): which entry lies over which entry of another file,
 * and the servers of their own.
 */
import { english } from '../../base/language.js';
import { nearest } from '../../base/nearest.js';
import { problemOf } from '../../base/problemOf.js';
import { isEmpty, valueIn, type MapEntry } from '../../yaml/valueNodes.js';
import {
  startOfFile,
  type ConfigDeps,
  type ConfiguredServer,
  type ParsedSource,
  type SourceText,
} from '../model.js';
import { shortened } from '../problems.js';
import { localPart, type Layer } from './layer.js';
import { parseMcprc } from './mcprc.js';
import {
  accepted,
  openMindsFile,
  parseMindsFile,
  readServers,
  type OpenedFile,
  type RefusedSource,
} from './parse.js';

interface LocalFile {
  readonly source: SourceText;
  readonly refusal: RefusedSource | undefined;
  /** The last valid text; undefined if none was valid. */
  readonly opened: OpenedFile | undefined;
  /** The ids over which an entry could lie. */
  readonly ids: string[];
  /** The entries that lie over nothing yet. An empty one says nothing. */
  readonly left: Map<string, MapEntry>;
}

export class Layers {
  private readonly byFolder = new Map<string, LocalFile>();
  /** True if a file has unknown servers, because it was never valid. */
  private idsAreUnknown = false;

  /** @param validOf returns the last valid source of a file */
  constructor(
    private readonly deps: ConfigDeps,
    present: readonly SourceText[],
    private readonly validOf: (file: string) => SourceText | undefined,
  ) {
    for (const source of present) {
      // The file of the main worktree follows the folder's own.
      if (source.origin !== 'local' || this.byFolder.has(source.folder)) continue;
      const now = opened(source, deps);
      if (now === undefined) continue;
      const used = now.kind === 'opened' ? now : opened(validOf(source.file), deps);
      const file = used?.kind === 'opened' ? used : undefined;
      for (const entry of file?.entries ?? []) file?.reader.places.own(entry);
      const entries = file?.entries.filter(({ value }) => !isEmpty(value)) ?? [];
      this.byFolder.set(source.folder, {
        source,
        refusal: now.kind === 'refused' ? now : undefined,
        opened: file,
        ids: [],
        left: new Map(entries.map((entry) => [entry.key, entry])),
      });
    }
  }

  /** Reads a source with what lies over it. A `local` one has to be read after the others. */
  read(source: SourceText): ParsedSource {
    if (source.origin === 'local') return this.ownServers(source);
    const layerOf = (id: string): Layer | undefined => this.take(id, source);
    const parsed =
      source.origin === 'mcprc'
        ? parseMcprc(source, this.deps, layerOf)
        : parseMindsFile(source, this.deps, layerOf);
    if (parsed.kind === 'refused' && !this.validOf(source.file)) this.idsAreUnknown = true;
    return parsed;
  }

  /** Two equal texts mean the same layers. */
  get texts(): string {
    const used = [...this.byFolder].map(([folder, { source, refusal }]) => [
      folder,
      refusal ? this.validOf(source.file)?.text : source.text,
    ]);
    return JSON.stringify(used);
  }

  private take(id: string, { origin, folder }: SourceText): Layer | undefined {
    for (const local of this.byFolder.values()) {
      if (origin !== 'user' && local.source.folder !== folder) continue;
      local.ids.push(id);
      const entry = local.left.get(id);
      if (!entry || !local.opened) continue;
      local.left.delete(id);
      return {
        source: local.source,
        places: local.opened.reader.places,
        entry,
      };
    }
    return undefined;
  }

  private ownServers(source: SourceText): ParsedSource {
    const local = this.byFolder.get(source.folder);
    if (local?.source.file !== source.file) return accepted(source, [], []);
    const { refusal, opened: file, ids, left } = local;
    if (source === local.source && refusal) return refusal;
    if (!file) return accepted(source, [], []);
    const { reader, limit } = file;
    if (this.deps.isTracked?.(source.file))
      reader.note(problemOf('local-file-tracked', { file: source.file, range: startOfFile }, {}));
    const own = [...left.values()].filter((entry) => this.isServer(entry, file, ids));
    const servers = readServers(reader, own).map((server): ConfiguredServer => {
      const entry = left.get(server.id);
      return entry ? { ...server, local: localPart(entry, server.places.key) } : server;
    });
    return accepted(source, servers, reader.whole(source.file), limit);
  }

  private isServer(entry: MapEntry, { reader }: OpenedFile, ids: readonly string[]): boolean {
    const transport = valueIn(entry.value, 'transport');
    if (transport && !isEmpty(transport)) return true;
    const instead = nearest(entry.key, ids);
    if (!this.idsAreUnknown)
      reader.report('local-entry-alone', reader.places.key(entry), {
        id: shortened(entry.key),
        ...(instead !== undefined && { instead }),
        fix:
          instead === undefined
            ? 'Write the id of a server of this folder, or add `transport`.'
            : english`Write \`${shortened(instead)}\`, or add \`transport\` for a server of your own.`,
      });
    return false;
  }
}

function opened(
  source: SourceText | undefined,
  deps: ConfigDeps,
): OpenedFile | RefusedSource | undefined {
  const text = source?.text;
  return source && text !== undefined ? openMindsFile(source, text, deps) : undefined;
}
