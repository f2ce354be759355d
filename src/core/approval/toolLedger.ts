/**
 * Remembers what each tool of an approved launch was when it was first listed, and which changes a person has accepted
 * (S3). Another launch is another approval: its tools are remembered anew. Written to a store of the editor that
 * belongs to the workspace; what stands there and is not understood counts as not seen yet.
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import type { OfferedTool } from '../tools/catalogue.js';
import type { LaunchDescription } from './fingerprint.js';
import { sameServer, type ApprovedServer, type Storage } from './ledger.js';
import { differingParts, printOf, type ToolPart, type ToolPrint, type ToolReview } from './toolPrints.js';

interface ToolLedgerOptions {
  readonly storage: Storage;
  /** Tell of a change by `recheck`. */
  readonly holdsBack: () => boolean;
  /** It could not be stored. */
  readonly onStoreFailure: (error: unknown) => void;
}

interface SeenLaunch extends ApprovedServer {
  readonly fingerprint: string;
  readonly prints: Map<string, ToolPrint>;
  /** What it listed last in this window. */
  listed: readonly OfferedTool[];
}

const key = 'mcpToolsets.tools';
/** Of all servers; those that were not used for the longest time go. */
const mostLaunches = 200;

export class ToolLedger implements ToolReview, Disposable {
  private readonly changes = new Emitter<void>();
  /** By fingerprint; used last at the end. */
  private readonly launches = new BoundedMap<string, SeenLaunch>(mostLaunches);
  private storing: Promise<void> | undefined;

  readonly onDidChange = this.changes.event;

  constructor(private readonly options: ToolLedgerOptions) {
    const stored = options.storage.get(key);
    for (const seen of Array.isArray(stored) ? stored.flatMap(readLaunch) : [])
      this.launches.set(seen.fingerprint, seen);
  }

  review(launch: LaunchDescription, tools: readonly OfferedTool[]): ReadonlyMap<string, readonly ToolPart[]> {
    const seen = this.seen(launch);
    const before = seen.prints.size;
    const changed = new Map<string, readonly ToolPart[]>();
    seen.listed = tools;
    for (const tool of tools) {
      const known = seen.prints.get(tool.name);
      if (!known) {
        seen.prints.set(tool.name, printOf(tool));
        continue;
      }
      const parts = differingParts(known, printOf(tool));
      if (parts.length > 0) changed.set(tool.name, parts);
    }
    if (seen.prints.size > before) this.store();
    return changed;
  }

  holdsBack(): boolean {
    return this.options.holdsBack();
  }

  /** The tools of this server, or one of them, are right as they are listed now. */
  accept(server: ApprovedServer, tool?: string): void {
    for (const seen of this.launches.values()) {
      if (!sameServer(seen, server)) continue;
      for (const listed of seen.listed) {
        if (tool === undefined || listed.name === tool) seen.prints.set(listed.name, printOf(listed));
      }
    }
    this.store();
    this.changes.fire();
  }

  /** Its approval was revoked: what it lists when it is approved again is what counts. */
  forget(server: ApprovedServer): void {
    for (const [fingerprint, seen] of this.launches) {
      if (sameServer(seen, server)) this.launches.delete(fingerprint);
    }
    this.store();
    this.changes.fire();
  }

  recheck(): void {
    this.changes.fire();
  }

  /** Resolves when what is known by now is stored. */
  async stored(): Promise<void> {
    await this.storing;
  }

  dispose(): void {
    this.changes.dispose();
  }

  private seen(launch: LaunchDescription): SeenLaunch {
    const { fingerprint, server, source } = launch;
    const seen = this.launches.get(fingerprint) ?? { fingerprint, server, source, prints: new Map(), listed: [] };
    this.launches.set(fingerprint, seen);
    return seen;
  }

  /** What changes in one turn is written once. */
  private store(): void {
    this.storing ??= Promise.resolve()
      .then(() => {
        this.storing = undefined;
        return this.options.storage.update(key, [...this.launches.values()].map(writtenLaunch));
      })
      .catch(this.options.onStoreFailure);
  }
}

function writtenLaunch({ fingerprint, server, source, prints }: SeenLaunch): unknown {
  return { fingerprint, server, source, tools: [...prints].map(([name, print]) => [name, ...print]) };
}

function readLaunch(stored: unknown): SeenLaunch[] {
  if (typeof stored !== 'object' || stored === null) return [];
  const { fingerprint, server, source, tools } = stored as Readonly<Record<string, unknown>>;
  if (typeof fingerprint !== 'string' || typeof server !== 'string' || typeof source !== 'string') return [];
  if (!Array.isArray(tools)) return [];
  const prints = new Map<string, ToolPrint>();
  for (const entry of tools as readonly unknown[]) {
    if (!Array.isArray(entry) || entry.length !== 4 || !entry.every((text) => typeof text === 'string')) continue;
    const [name, description, schema, hints] = entry as [string, string, string, string];
    prints.set(name, [description, schema, hints]);
  }
  return [{ fingerprint, server, source, prints, listed: [] }];
}
