/**
 * Makes the editor show the toolsets. The editor does not start an offered server before a chat
 * needs it, and does not report missing tools. So the presenter starts each toolset until the
 * editor shows its tools. Tools that do not appear become a problem until they do. If a shown
 * toolset stops, the person stopped it, so the presenter does not start it again.
 *
 * The presenter never throws, and knows the editor only through `PresentingEditor`. Invariants: a
 * toolset has at most one start at a time. Each change leads to a bounded number of starts, however often the
 * editor asks for definitions.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../core/base/clock.js';
import type { Disposable } from '../../core/base/disposables.js';
import type { Log } from '../../core/base/log.js';
import type { Place, Problem } from '../../core/base/problem.js';
import { asText } from '../../core/base/text.js';
import type { Toolset } from '../../core/tools/catalogue.js';
import { absenceProblem, absenceText, presenceOf, type Absence, type Rival } from './presence.js';

export interface PresentingEditor {
  toolNames(): ReadonlySet<string>;
  /** Asks the editor to connect. May resolve without a connection. */
  startServer(label: string): Promise<void>;
  /** True if the editor has listed the toolset's tools in an MCP session. */
  isConnected(label: string): boolean;
  switchedOff(): string | undefined;
  rivals(label: string): Promise<readonly Rival[]>;
  placeOf(server: string): Place | undefined;
  /**
   * Removes the definition for a moment, because the editor keeps the prefix of a definition while
   * it exists.
   */
  renew(label: string): void;
}

interface PresenterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly editor: PresentingEditor;
  readonly onChange: () => void;
}

/**
 * The milliseconds between looks. The editor takes a new definition 500 ms after its announcement,
 * without an event.
 */
const pace = [
  80, 80, 80, 80, 80, 80, 80, 100, 100, 200, 300, 500, 800, 1200, 2000, 3000, 5000,
] as const;
const slowPace = 3_000;
const mostStarts = 20;

/** Milliseconds until missing tools are a problem: with a session, and in any case. */
const graceConnected = 3000;
const graceInAll = 20_000;

export class Presenter implements Disposable {
  private readonly watches = new Map<string, Watch>();
  /** The toolsets with a start that runs. It may outlive its watch. */
  private readonly starting = new Set<string>();

  constructor(private readonly deps: PresenterDeps) {}

  expect(toolsets: readonly Toolset[]): void {
    const gone = [...this.watches].filter(([id]) => toolsets.every((toolset) => toolset.id !== id));
    for (const [id, watch] of gone) {
      watch.dispose();
      this.watches.delete(id);
    }
    for (const toolset of toolsets) {
      const watch = this.watches.get(toolset.id);
      if (watch) watch.change(toolset);
      else this.watches.set(toolset.id, new Watch(toolset, this.starting, this.deps));
    }
    if (gone.some(([, { absence }]) => absence)) this.deps.onChange();
  }

  tryAgain(): void {
    for (const watch of this.watches.values()) watch.tryAgain();
  }

  /**
   * The editor may take a definition after all starts are spent, so its first taking gives another
   * chance.
   */
  definitionsTaken(ids: readonly string[]): void {
    for (const id of ids) this.watches.get(id)?.definitionsTaken();
  }

  /**
   * Looks at once, because the editor did something with a toolset and may show its tools already.
   */
  activityChanged(id: string): void {
    this.watches.get(id)?.lookNow();
  }

  problems(): Problem[] {
    return [...this.watches.values()].flatMap(({ toolset, absence }) => {
      const place = this.deps.editor.placeOf(toolset.id);
      return absence && place ? [absenceProblem(toolset, absence, place)] : [];
    });
  }

  dispose(): void {
    for (const watch of this.watches.values()) watch.dispose();
    this.watches.clear();
  }
}

class Watch implements Disposable {
  absence: Absence | undefined;
  private looks = 0;
  private startsLeft = mostStarts;
  private phase: 'awaited' | 'shown' | 'vanished' = 'awaited';
  private since: number;
  private connectedSince: number | undefined;
  private taken = false;
  private timer: Disposable | undefined;
  /** True once the definition was renewed, after the other server of its name had gone. */
  private isRenewed = false;
  private ended = false;

  constructor(
    public toolset: Toolset,
    private readonly starting: Set<string>,
    private readonly deps: PresenterDeps,
  ) {
    this.since = deps.clock.now();
    this.look();
  }

  change(toolset: Toolset): void {
    if (toolset === this.toolset) return;
    this.toolset = toolset;
    this.begin('awaited');
  }

  tryAgain(): void {
    if (this.phase !== 'shown') this.begin('awaited');
  }

  definitionsTaken(): void {
    if (this.taken) return;
    this.taken = true;
    if (this.phase === 'awaited') this.begin('awaited');
  }

  lookNow(): void {
    if (this.phase !== 'awaited') return;
    this.looks = Math.min(this.looks, 1);
    this.look();
  }

  dispose(): void {
    this.ended = true;
    this.timer?.dispose();
  }

  private begin(phase: 'awaited' | 'vanished'): void {
    this.phase = phase;
    this.looks = 0;
    this.startsLeft = phase === 'awaited' ? mostStarts : 0;
    this.since = this.deps.clock.now();
    this.connectedSince = undefined;
    this.look();
  }

  private look(): void {
    if (this.ended) return;
    const { editor, clock, log } = this.deps;
    const presence = presenceOf(this.toolset, editor.toolNames());
    const connected = editor.isConnected(this.toolset.id);
    // Without a session, the editor may remember these tools from an earlier window.
    if (presence.kind === 'shown' && (connected || this.phase !== 'awaited')) {
      if (this.phase !== 'shown')
        log.write('debug', `${this.toolset.id}: shown after ${clock.now() - this.since} ms`);
      this.phase = 'shown';
      this.report(undefined);
      this.lookIn(slowPace);
      return;
    }
    if (this.phase === 'shown') return this.begin('vanished');
    this.connectedSince = connected ? (this.connectedSince ?? clock.now()) : undefined;
    if (!connected) this.start();
    if (presence.kind !== 'shown' && this.graceIsOver()) void this.explain(presence, connected);
    this.lookIn(pace[this.looks++] ?? slowPace);
  }

  private lookIn(ms: number): void {
    this.timer?.dispose();
    this.timer = this.deps.clock.after(ms, () => this.look());
  }

  private graceIsOver(): boolean {
    const { clock, editor } = this.deps;
    const now = clock.now();
    if (editor.switchedOff() !== undefined) return true;
    if (this.connectedSince !== undefined && now - this.connectedSince >= graceConnected)
      return true;
    return now - this.since >= graceInAll;
  }

  private start(): void {
    const { editor, log } = this.deps;
    const label = this.toolset.id;
    if (this.starting.has(label) || this.startsLeft === 0 || editor.switchedOff() !== undefined)
      return;
    this.starting.add(label);
    this.startsLeft--;
    editor
      .startServer(label)
      .catch((error: unknown) =>
        log.write('debug', `${label}: the editor did not start it: ${asText(error)}`),
      )
      .finally(() => {
        this.starting.delete(label);
        if (this.phase !== 'shown' && editor.isConnected(label)) this.look();
      });
  }

  private async explain(presence: Absence['presence'], connected: boolean): Promise<void> {
    const { editor } = this.deps;
    const { toolset } = this;
    const hasOtherPrefix = presence.kind === 'renamed';
    const rivals =
      presence.kind === 'hidden' || hasOtherPrefix ? await editor.rivals(toolset.id) : [];
    if (this.ended || this.phase === 'shown' || toolset !== this.toolset) return;
    if (hasOtherPrefix && rivals.length === 0 && !this.isRenewed) {
      this.isRenewed = true;
      editor.renew(toolset.id);
      this.begin('awaited');
      return this.report(undefined);
    }
    // Our own entry gives the tools.
    const isByEntry = hasOtherPrefix && rivals.some(({ isOurs }) => isOurs);
    this.report(
      isByEntry
        ? undefined
        : {
            presence,
            connected,
            switchedOff: editor.switchedOff(),
            rivals,
          },
    );
  }

  private report(absence: Absence | undefined): void {
    if (isDeepStrictEqual(absence, this.absence)) return;
    this.absence = absence;
    if (absence) this.deps.log.write('warn', absenceText(this.toolset, absence).message);
    this.deps.onChange();
  }
}
