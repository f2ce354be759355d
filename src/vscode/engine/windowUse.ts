/** The counts of the tools of a window's servers (H1d). Without `vscode`. */
import type { Clock } from '../../core/base/clock.js';
import type { Disposable } from '../../core/base/disposables.js';
import { Emitter } from '../../core/base/events.js';
import { counted } from '../../core/base/language.js';
import type { Problem } from '../../core/base/problem.js';
import { problemOf } from '../../core/base/problemOf.js';
import { shortList } from '../../core/base/text.js';
import { countsIn, FolderUse, type Count, type ToolsetUse } from '../../core/calls/counts.js';
import { callFileOf, countFileOf, followCalls } from '../../core/files/callFile.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { estimatedTokensOf } from '../../core/tools/tokens.js';

type Servers = readonly ServerStatus[];

interface WindowUseDeps {
  readonly clock: Clock;
  readonly servers: () => Servers;
  /** Nothing is said while calls are not recorded. */
  readonly isRecorded: () => boolean;
}

/** The folder is watched too. */
const pollMs = 30_000;
const mostNamed = 5;

export class WindowUse implements Disposable {
  private readonly changes = new Emitter<void>();
  private counts: readonly Count[] = [];
  private inFolder = new FolderUse();
  private following: Disposable | undefined;

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: WindowUseDeps) {}

  follow(folder: string, home: string): void {
    const file = countFileOf(callFileOf(folder, home));
    const take = (lines: readonly string[], isWhole: boolean): void => {
      this.counts = countsIn(lines, isWhole ? [] : this.counts);
      this.inFolder = new FolderUse(this.counts);
      this.changes.fire();
    };
    this.following = followCalls(file, this.deps.clock, take, pollMs);
  }

  of(server: ServerStatus): ToolsetUse | undefined {
    const { clock, servers, isRecorded } = this.deps;
    if (!isRecorded()) return undefined;
    const present = new Set(servers().map(({ id }) => id));
    return this.inFolder.of(server, present, clock.now());
  }

  unusedOf(server: ServerStatus, use = this.of(server)): ServerStatus['tools'] {
    return server.tools.filter(({ original }) => use?.isUnused(original));
  }

  /** At most one of a server, if its lists can be edited. */
  problems(): Problem[] {
    return this.deps.servers().flatMap((server) => {
      const { id, origin, place, tools } = server;
      const use = origin === 'mcprc' ? undefined : this.of(server);
      const days = use?.judgedDays;
      if (days === undefined) return [];
      const unused = this.unusedOf(server, use);
      if (unused.length === 0) return [];
      const given = {
        count: unused.length,
        of: counted(tools.length, '1 tool', '{0} tools'),
        days,
        tokens: estimatedTokensOf(unused),
        names: shortList(
          unused.map(({ published }) => published),
          mostNamed,
        ),
      };
      return [problemOf('tools-unused', { server: id, places: { key: place } }, given)];
    });
  }

  dispose(): void {
    this.following?.dispose();
    this.changes.dispose();
  }
}
