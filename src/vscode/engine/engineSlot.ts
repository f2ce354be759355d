/**
 * Holds the engine of a window and the state for every view. No server starts in an untrusted
 * workspace (S1). Without `vscode`.
 */
import type { Disposable } from '../../core/base/disposables.js';
import { delay, type Clock } from '../../core/base/clock.js';
import { Emitter, nextEvent, type Event } from '../../core/base/events.js';
import type { Log } from '../../core/base/log.js';
import type { Problem } from '../../core/base/problem.js';
import { asText } from '../../core/base/text.js';
import type { SourceText } from '../../core/config/model.js';
import type { ServerStatus, StatusSnapshot } from '../../core/reconcile/status.js';
import type { Engine } from './engine.js';

export interface ConfigFilesState {
  readonly folders: number;
  readonly sources: readonly SourceText[];
  /** One problem for each file that exists and cannot be read. */
  readonly problems: readonly Problem[];
}

export interface ConfigFiles extends Disposable {
  readonly state: ConfigFilesState | undefined;
  readonly onDidChange: Event<ConfigFilesState>;
  readNow(): Promise<void>;
}

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
  openConfigFiles(): ConfigFiles;
  loadEngine(): Promise<Engine>;
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

function hasText({ sources }: ConfigFilesState): boolean {
  return sources.some(({ text }) => text !== undefined);
}

const nothing: StatusSnapshot = { version: 0, refused: [], servers: [], problems: [] };

export class EngineSlot {
  private readonly changes = new Emitter<WindowState>();
  private readonly arrivals = new Emitter<Engine>();
  private readonly observers: ProblemsOfShell[] = [];
  state: WindowState;
  private files: ConfigFiles | undefined;
  private loading: Promise<Engine | undefined> | undefined;
  /** The engine has read the config files, or there will be no engine. */
  private isKnown = false;
  private ended = false;
  private announced = false;

  readonly redact = (text: string): string => this.engine?.redact(text) ?? text;
  readonly onDidChange: Event<WindowState> = this.changes.event;
  readonly onDidLoad: Event<Engine> = this.arrivals.event;
  engine: Engine | undefined;

  constructor(private readonly deps: EngineSlotDeps) {
    this.state = { phase: this.phase(), snapshot: nothing };
  }

  get sources(): readonly SourceText[] {
    return this.files?.state?.sources ?? [];
  }

  get toolsets() {
    return this.engine?.host.catalogue.toolsets ?? [];
  }

  serverOf(id: string | undefined): ServerStatus | undefined {
    return this.state.snapshot.servers.find((server) => server.id === id);
  }

  async readFiles(): Promise<void> {
    await this.files?.readNow();
  }

  /** Begins if the workspace is trusted. Call it again when the workspace becomes trusted. */
  start(): void {
    this.refresh();
    if (this.ended || this.files || !this.deps.isTrusted()) return;
    this.files = this.deps.openConfigFiles();
    this.files.onDidChange(() => this.apply());
    if (this.files.state) this.apply();
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

  private apply(): void {
    const state = this.files?.state;
    if (!state || this.ended) return;
    this.refresh();
    if (!this.engine && hasText(state)) this.loading ??= this.load();
    this.engine?.host
      .setSources(state.sources)
      .catch((error: unknown) =>
        this.deps.log.write('error', `The files were not applied: ${stackOf(error)}`),
      );
  }

  private async load(): Promise<Engine | undefined> {
    try {
      const engine = await this.deps.loadEngine();
      if (this.ended) return engine;
      this.engine = engine;
      engine.host.onDidChange(() => {
        this.isKnown = true;
        this.refresh();
      });
      this.arrivals.fire(engine);
      this.apply();
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
    const state = this.files?.state;
    if (!state) return 'reading';
    if (hasText(state)) return this.isKnown ? 'serving' : 'reading';
    if (state.problems.length > 0) return 'serving';
    return state.folders === 0 ? 'noFolder' : 'noFile';
  }

  private snapshot(phase: WindowState['phase']): StatusSnapshot {
    const core = this.engine?.host.snapshot ?? nothing;
    const own = [
      ...(this.files?.state?.problems ?? []),
      ...this.observers.flatMap((problems) => problems(phase)),
    ];
    return own.length === 0 ? core : { ...core, problems: [...core.problems, ...own] };
  }
}

function stackOf(error: unknown): string {
  return asText((error as Error).stack ?? error);
}
