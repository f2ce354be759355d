/**
 * Sees that the editor shows the toolsets. The editor does not start a server that an extension offers before somebody chats,
 * and does not say when it shows none of its tools. So each toolset is started until its tools are shown; tools that stay
 * away become a problem, which goes as soon as they are shown.
 *
 * A toolset that was shown and then stopped is not started again, because the person stopped it. The presenter never rejects
 * and never throws, and it knows the editor only through `Stage`. Invariants: a toolset has at most one start at a time, and
 * each change leads to a bounded number of starts, however often the editor asks for definitions.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../core/base/clock.js';
import { toDisposable, type Disposable } from '../../core/base/disposables.js';
import type { Log } from '../../core/base/log.js';
import type { Place, Problem } from '../../core/base/problem.js';
import { asText } from '../../core/base/text.js';
import type { Toolset } from '../../core/tools/catalogue.js';
import { absenceProblem, absenceText, presenceOf, type Absence, type Rival } from './presence.js';

export interface Stage {
  /** Returns the names of the language-model tools that the editor has. */
  toolNames(): ReadonlySet<string>;
  /** Asks the editor to connect. That it resolves does not mean that the editor connected. */
  startServer(label: string): Promise<void>;
  /** Returns whether the editor has an MCP session in which it has listed the toolset's tools. */
  isConnected(label: string): boolean;
  /** Returns what `Absence.switchedOff` describes. */
  switchedOff(): string | undefined;
  rivals(label: string): Promise<readonly Rival[]>;
  placeOf(server: string): Place | undefined;
  /** Takes the definition away for a moment, because the editor keeps the prefix of a definition as long as that is there. */
  renew(label: string): void;
}

interface PresenterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly stage: Stage;
  /** Called when `problems()` has changed. */
  readonly onChange: () => void;
}

/**
 * The milliseconds between looks. The editor takes over a new definition 500 ms after it was announced and does not say when
 * it has done so. Asking it to start a server that it does not know yet costs next to nothing.
 */
const pace = [80, 80, 80, 80, 80, 80, 80, 100, 100, 200, 300, 500, 800, 1200, 2000, 3000, 5000] as const;
const slowPace = 3_000;
const mostStarts = 20;

/** How many milliseconds tools may stay away before that is a problem: with a session, and in all. */
const graceConnected = 3000;
const graceInAll = 20_000;

export class Presenter implements Disposable {
  private readonly watches = new Map<string, Watch>();
  private readonly end = toDisposable(() => {
    for (const watch of this.watches.values()) watch.dispose();
    this.watches.clear();
  });

  constructor(private readonly deps: PresenterDeps) {}

  /** Takes note that exactly these toolsets were announced to the editor. */
  expect(toolsets: readonly Toolset[]): void {
    const wanted = new Set(toolsets.map(({ id }) => id));
    let fewerProblems = false;
    for (const [id, watch] of this.watches) {
      if (wanted.has(id)) continue;
      fewerProblems ||= watch.absence !== undefined;
      watch.dispose();
      this.watches.delete(id);
    }
    for (const toolset of toolsets) {
      const watch = this.watches.get(toolset.id);
      if (watch) watch.change(toolset);
      else this.watches.set(toolset.id, new Watch(toolset, this.deps));
    }
    if (fewerProblems) this.deps.onChange();
  }

  /** Gives absent toolsets a new chance after something in the editor has changed. */
  tryAgain(): void {
    for (const watch of this.watches.values()) watch.tryAgain();
  }

  /** Starts every toolset anew, because the editor is offered all of them at another address. */
  beginAgain(): void {
    for (const watch of this.watches.values()) watch.beginAgain();
  }

  /**
   * Takes note that the editor was given the definitions of these toolsets. It may ask for them late, when all starts of what
   * it did not know are spent; so what it takes for the first time has a new chance.
   */
  noteTaken(ids: readonly string[]): void {
    for (const id of ids) this.watches.get(id)?.noteTaken();
  }

  /** Looks sooner, because the editor did something with a toolset and may show its tools already. */
  noteActivity(id: string): void {
    this.watches.get(id)?.hurry();
  }

  /** Returns the absences that hold now, at the places where their servers stand now. */
  problems(): Problem[] {
    return [...this.watches.values()].flatMap(({ toolset, absence }) => {
      const place = this.deps.stage.placeOf(toolset.id);
      return absence && place ? [absenceProblem(toolset, absence, place)] : [];
    });
  }

  dispose(): void {
    this.end.dispose();
  }
}

class Watch implements Disposable {
  absence: Absence | undefined;
  private looks = 0;
  private startsLeft = mostStarts;
  private starting = false;
  private phase: 'awaited' | 'shown' | 'vanished' = 'awaited';
  private since: number;
  private connectedSince: number | undefined;
  /** Whether the editor was given the definition. */
  private taken = false;
  private timer: Disposable | undefined;
  /** Whether the other server of its name was gone once, and the definition made anew. */
  private isRenewed = false;
  private ended = false;

  constructor(
    public toolset: Toolset,
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

  beginAgain(): void {
    this.taken = false;
    this.begin('awaited');
  }

  noteTaken(): void {
    if (this.taken) return;
    this.taken = true;
    if (this.phase === 'awaited') this.begin('awaited');
  }

  hurry(): void {
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
    const { stage, clock, log } = this.deps;
    const presence = presenceOf(this.toolset, stage.toolNames());
    const connected = stage.isConnected(this.toolset.id);
    // Without a session these may be tools that the editor remembers from an earlier window.
    if (presence.kind === 'shown' && (connected || this.phase !== 'awaited')) {
      if (this.phase !== 'shown') log.write('debug', `${this.toolset.id}: shown after ${clock.now() - this.since} ms`);
      this.phase = 'shown';
      this.tell(undefined);
      this.lookIn(slowPace);
      return;
    }
    if (this.phase === 'shown') {
      this.begin('vanished');
      return;
    }
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
    const { clock, stage } = this.deps;
    const now = clock.now();
    if (stage.switchedOff() !== undefined) return true;
    if (this.connectedSince !== undefined && now - this.connectedSince >= graceConnected) return true;
    return now - this.since >= graceInAll;
  }

  private start(): void {
    const { stage, log } = this.deps;
    if (this.starting || this.startsLeft === 0 || stage.switchedOff() !== undefined) return;
    this.starting = true;
    this.startsLeft--;
    const label = this.toolset.id;
    stage
      .startServer(label)
      .catch((error: unknown) => log.write('debug', `${label}: the editor did not start it: ${asText(error)}`))
      .finally(() => {
        this.starting = false;
        if (this.phase !== 'shown' && stage.isConnected(label)) this.look();
      });
  }

  private async explain(presence: Absence['presence'], connected: boolean): Promise<void> {
    const { stage } = this.deps;
    const { toolset } = this;
    const hasOtherPrefix = presence.kind === 'renamed' && presence.because === 'rival';
    const rivals = presence.kind === 'hidden' || hasOtherPrefix ? await stage.rivals(toolset.id) : [];
    if (this.ended || this.phase === 'shown' || toolset !== this.toolset) return;
    if (hasOtherPrefix && rivals.length === 0 && !this.isRenewed) {
      this.isRenewed = true;
      stage.renew(toolset.id);
      this.begin('awaited');
      return this.tell(undefined);
    }
    this.tell({ presence, connected, switchedOff: stage.switchedOff(), rivals });
  }

  private tell(absence: Absence | undefined): void {
    if (isDeepStrictEqual(absence, this.absence)) return;
    this.absence = absence;
    if (absence) this.deps.log.write('warn', absenceText(this.toolset, absence).message);
    this.deps.onChange();
  }
}
