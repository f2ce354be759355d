/**
 * What is published: the catalogue of all that serves, in file order, less what a person keeps from agents. Invariants:
 * the catalogue is replaced in one step and is a function of what it is given; a toolset that stays the same stays the
 * same object, so that whoever compares sees what changed; `mcp_admin` is there where servers are.
 */
import type { Disposable } from './base/disposables.js';
import { Emitter } from './base/events.js';
import type { Log } from './base/log.js';
import type { Problem } from './base/problem.js';
import type { ConfiguredServer } from './config/model.js';
import type { HostOptions } from './hostContract.js';
import type { ChangedTool } from './reconcile/status.js';
import { ToolAccess, type Offer } from './toolAccess.js';
import type { Catalogue, ServedTool, Toolset } from './tools/catalogue.js';
import { shortNames } from './tools/editorNames.js';
import { publish, sameToolset } from './tools/registry.js';

type PublicationOptions = Pick<HostOptions, 'reservedNames' | 'toolPolicy' | 'toolReview'> & { readonly log: Log };

export class Publication implements Disposable {
  readonly access: ToolAccess;
  private catalogue_: Catalogue = { version: 0, toolsets: [] };
  private problems_: readonly Problem[] = [];
  private readonly changedTools = new Map<string, readonly ChangedTool[]>();
  private readonly changes = new Emitter<Catalogue>();

  readonly onDidChange = this.changes.event;

  constructor(private readonly options: PublicationOptions) {
    this.access = new ToolAccess(options.toolPolicy, options.toolReview);
  }

  get catalogue(): Catalogue {
    return this.catalogue_;
  }

  get problems(): readonly Problem[] {
    return this.problems_;
  }

  toolset(id: string): Toolset | undefined {
    return this.catalogue_.toolsets.find((toolset) => toolset.id === id);
  }

  /** @param published the tool's published name. */
  tool(toolset: string, published: string): ServedTool | undefined {
    return this.toolset(toolset)?.tools.find((tool) => tool.published === published);
  }

  changed(server: string): readonly ChangedTool[] | undefined {
    return this.changedTools.get(server);
  }

  /** @param servers in file order. */
  update(servers: readonly ConfiguredServer[], serving: (id: string) => Offer | undefined): void {
    const names = shortNames(servers.map(({ id }) => id));
    const candidates = servers.flatMap((server) => {
      const offer = serving(server.id);
      return offer ? [this.access.candidate(server, offer, names.get(server.id) ?? server.id)] : [];
    });
    this.changedTools.clear();
    for (const { id, changed } of candidates) this.changedTools.set(id, changed);
    const { toolsets, problems } = publish(candidates, this.options.reservedNames, this.access.deniedBy);
    this.problems_ = [...candidates.flatMap((candidate) => candidate.problems), ...problems];
    const before = this.catalogue_.toolsets;
    const next = toolsets.map((toolset) => before.find((earlier) => sameToolset(earlier, toolset)) ?? toolset);
    if (servers.length > 0) next.push(this.access.adminToolset);
    if (next.length === before.length && next.every((toolset, index) => toolset === before[index])) return;
    this.catalogue_ = { version: this.catalogue_.version + 1, toolsets: next };
    const counts = next.map(({ id, tools }) => `${id} ${tools.length}`).join(', ');
    this.options.log.write('info', `Registry version ${this.catalogue_.version}: ${counts || 'no toolsets'}`);
    this.changes.fire(this.catalogue_);
  }

  dispose(): void {
    this.changes.dispose();
  }
}
