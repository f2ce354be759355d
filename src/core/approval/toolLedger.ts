/**
 * Remembers what each tool of an approved launch was when it was first listed, and which changes a person has accepted
 * (S3). Another launch is another approval, and its tools are remembered anew. The ledger is kept in a store of the
 * editor that belongs to the workspace; what stands there and is not understood counts as not seen yet.
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import type { OfferedTool } from '../tools/catalogue.js';
import type { LaunchDescription } from './fingerprint.js';
import { sameServer, type ApprovedServer, type Storage } from './ledger.js';
import { differingParts, printOf, type ToolPart, type ToolPrint, type ToolReview } from './toolPrints.js';

interface ToolLedgerDeps {
  readonly storage: Storage;
  /** Says whether changed tools are kept from agents. `recheck` tells that this changed. */
  readonly holdsBack: () => boolean;
  /** Called when the ledger could not be stored. */
  readonly onStoreFailure: (error: unknown) => void;
}

interface SeenLaunch extends ApprovedServer {
  readonly fingerprint: string;
  readonly prints: Map<string, ToolPrint>;
  /** The tools that it listed last in this window. */
  listed: readonly OfferedTool[];
}

const key = 'mcpToolsets.tools';
/** At most this many launches of all servers are kept; those that were unused the longest are dropped first. */
const mostLaunches = 200;

export class ToolLedger implements ToolReview, Disposable {
  private readonly changes = new Emitter<void>();
  /** Launches by fingerprint; those used last stand at the end. */
  private readonly launches = new BoundedMap<string, SeenLaunch>(mostLaunches);
  private storing: Promise<void> | undefined;

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: ToolLedgerDeps) {
    const stored = deps.storage.get(key);
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
    return this.deps.holdsBack();
  }

  /** Accepts the tools of this server, or one of them, as they are listed now. */
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

  /** Forgets a server whose approval was revoked: what it lists when it is approved again is what counts. */
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

  /** Resolves when everything that is known by now is stored. */
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

  /** Writes once what changes in one turn. */
  private store(): void {
    this.storing ??= Promise.resolve()
      .then(() => {
        this.storing = undefined;
        return this.deps.storage.update(key, [...this.launches.values()].map(writtenLaunch));
      })
      .catch(this.deps.onStoreFailure);
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
