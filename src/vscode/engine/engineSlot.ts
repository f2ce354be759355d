/**
 * Holds the engine of a window and the state for every view. No server starts in an untrusted
 * workspace (S1). Without `vscode`.
 */
import { delay, type Clock } from '../../core/base/clock.js';
import type { Disposable } from '../../core/base/disposables.js';
import { Emitter, nextEvent, type Event } from '../../core/base/events.js';
import type { Log } from '../../core/base/log.js';
import type { Problem } from '../../core/base/problem.js';
import { asText } from '../../core/base/text.js';
import type { SourceText } from '../../core/config/model.js';
import { fileUnreadable } from '../../core/config/sources.js';
import type { ConfigSources } from '../../core/engine/configFiles.js';
import type { ServerStatus, StatusSnapshot } from '../../core/reconcile/status.js';
import type { ShellEngine } from './engine.js';

export interface WindowState {
  /** `reading`: the servers are unknown, because files or code still load. */
  readonly phase: 'untrusted' | 'reading' | 'noFolder' | 'noFile' | 'serving';
  readonly snapshot: StatusSnapshot;
}

/** Returns the shell's own problems. @param phase the phase that begins or lasts */
type ProblemsOfShell = (phase: WindowState['phase']) => readonly Problem[];

interface EngineSlotDeps {
  readonly log: Log;
  isTrusted(): boolean;
  openConfigFiles(): ConfigSources & Disposable;
  loadEngine(): Promise<ShellEngine>;
  onFailure(error: unknown): void;
}

/** Asks `holds` with each change, for `limit` milliseconds at most. Never rejects. */
export async function untilHolds(
  { slot, clock }: { readonly slot: Pick<EngineSlot, 'onDidChange'>; readonly clock: Clock },
  holds: () => boolean,
  limit: number,
  signal: AbortSignal,
): Promise<void> {
  if (holds()) return;
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  const came = nextEvent(slot.onDidChange, holds, ended);
  await Promise.race([came, delay(clock, limit, ended)]).catch(() => undefined);
  over.abort();
}

/**
 * How long a question waits for servers that start, in milliseconds. Later tools take part from the
 * next request.
 */
const patience = 10_000;

/**
 * Resolves when the first answer of a chat can have tools. Calls `onWait` once if it waits. Never
 * rejects.
 */
export async function untilReady(
  slot: EngineSlot,
  clock: Clock,
  signal: AbortSignal,
  onWait: (starting: readonly string[]) => void,
): Promise<void> {
  // A server that restarts still serves its tools.
  const starting = (): string[] =>
    slot.state.snapshot.servers.flatMap(({ id, state, tools }) =>
      state.kind === 'starting' && tools.length === 0 ? [id] : [],
    );
  const isReady = (): boolean => slot.state.phase !== 'reading' && starting().length === 0;
  if (isReady()) return;
  onWait(starting());
  await untilHolds({ slot, clock }, isReady, patience, signal);
}

function hasText(sources: readonly SourceText[]): boolean {
  return sources.some(({ text }) => text !== undefined);
}

function unreadableFiles(sources: readonly SourceText[]): Problem[] {
  return sources.flatMap(({ file, unreadable }) =>
    unreadable === undefined ? [] : [fileUnreadable(file, unreadable, true)],
  );
}

const nothing: StatusSnapshot = {
  version: 0,
  refused: [],
  servers: [],
  problems: [],
};

export class EngineSlot {
  private readonly changes = new Emitter<WindowState>();
  private readonly arrivals = new Emitter<ShellEngine>();
  private readonly observers: ProblemsOfShell[] = [];
  state: WindowState;
  private files: (ConfigSources & Disposable) | undefined;
  private loading: Promise<ShellEngine | undefined> | undefined;
  /** The engine has read the config files, or there will be no engine. */
  private isKnown = false;
  private ended = false;
  private announced = false;

  readonly redact = (text: string): string => this.engine?.redact(text) ?? text;
  readonly onDidChange: Event<WindowState> = this.changes.event;
  readonly onDidLoad: Event<ShellEngine> = this.arrivals.event;
  engine: ShellEngine | undefined;

  constructor(private readonly deps: EngineSlotDeps) {
    this.state = { phase: this.phase(), snapshot: nothing };
  }

  get sources(): readonly SourceText[] {
    return this.files?.sources ?? [];
  }

  get toolsets() {
    return this.engine?.host.catalogue.toolsets ?? [];
  }

  serverOf(id: string | undefined): ServerStatus | undefined {
    return this.state.snapshot.servers.find((server) => server.id === id);
  }

  /** Begins if the workspace is trusted. Call it again when the workspace becomes trusted. */
  start(): void {
    this.refresh();
    if (this.ended || this.files || !this.deps.isTrusted()) return;
    this.files = this.deps.openConfigFiles();
    this.files.onDidChange(() => this.look());
    this.look();
  }

  /** Adds problems to every snapshot from now on. Call `refresh` when they have changed. */
  observe(problems: ProblemsOfShell): void {
    this.observers.push(problems);
  }

  /** Several calls within one turn of the event loop cause one event. */
  refresh(): void {
    if (this.announced || this.ended) return;
    this.announced = true;
    queueMicrotask(() => {
      this.announced = false;
      if (this.ended) return;
      const phase = this.phase();
      this.state = { phase, snapshot: this.snapshot(phase) };
      this.changes.fire(this.state);
    });
  }

  async dispose(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    this.files?.dispose();
    this.changes.dispose();
    const engine = await this.loading;
    await engine?.dispose();
    this.arrivals.dispose();
  }

  private look(): void {
    if (this.ended || !this.files?.sources) return;
    this.refresh();
    if (hasText(this.files.sources)) this.loading ??= this.load(this.files);
  }

  private async load(files: ConfigSources): Promise<ShellEngine | undefined> {
    try {
      const engine = await this.deps.loadEngine();
      if (this.ended) return engine;
      this.engine = engine;
      engine.host.onDidChange(() => {
        this.isKnown = true;
        this.refresh();
      });
      engine.use.onDidChange(() => this.refresh());
      this.arrivals.fire(engine);
      this.refresh();
      engine.follow(files);
      return engine;
    } catch (error) {
      this.deps.log.write('error', `The engine did not start: ${stackOf(error)}`);
      this.deps.onFailure(error);
      this.isKnown = true;
      this.refresh();
      return undefined;
    }
  }

  private phase(): WindowState['phase'] {
    if (!this.deps.isTrusted()) return 'untrusted';
    const sources = this.files?.sources;
    if (!sources) return 'reading';
    if (hasText(sources)) return this.isKnown ? 'serving' : 'reading';
    if (unreadableFiles(sources).length > 0) return 'serving';
    const isOfFolder = sources.some(({ origin }) => origin !== 'user');
    return isOfFolder ? 'noFile' : 'noFolder';
  }

  private snapshot(phase: WindowState['phase']): StatusSnapshot {
    const core = this.engine?.host.snapshot ?? nothing;
    const own = [
      // The engine reports them too, once it has read the files.
      ...(this.engine && this.isKnown ? [] : unreadableFiles(this.sources)),
      ...this.observers.flatMap((problems) => problems(phase)),
      ...(this.engine?.use.problems() ?? []),
    ];
    return own.length === 0 ? core : { ...core, problems: [...core.problems, ...own] };
  }
}

function stackOf(error: unknown): string {
  return asText((error as Error).stack ?? error);
}
