/**
 * Looks whether the apps of one server's published tools can be shown (G8): each page is read once after it is published,
 * from an instance that lives anyway, and again when somebody has read it. It only watches: nothing waits for it, and what
 * could not be asked is no fault.
 */
import { appFault } from '../apps/appResource.js';
import { appOf } from '../apps/toolMeta.js';
import type { Problem } from '../base/problem.js';
import { clipped } from '../base/text.js';
import type { ServerPlaces } from '../config/model.js';
import type { PoolFailure } from '../instances/pool.js';
import { errorCodes } from '../protocol/errors.js';
import type { OtherOutcome, OtherRequest } from '../protocol/request.js';
import type { PublishedTool } from '../tools/catalogue.js';
import { appUnusable } from './problems.js';

/** No more pages of one server are read for this. */
const mostPages = 32;
const longestUri = 200;
const longestError = 300;

interface AppPagesDeps {
  /** Asks an instance that lives; undefined where none does. */
  readonly read: (request: OtherRequest) => Promise<OtherOutcome | PoolFailure> | undefined;
  /** Aborted when nothing serves any more. */
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
  readonly onChange: () => void;
}

export class AppPages {
  /** What is wrong with each page that was looked at, if anything. */
  private readonly faults = new Map<string, string | undefined>();
  private readonly asked = new Set<string>();
  private tools: readonly PublishedTool[] = [];
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: AppPagesDeps) {}

  /** Has to be called when other tools are published. */
  follow(tools: readonly PublishedTool[]): void {
    this.tools = tools;
    for (const uri of new Set(tools.flatMap(({ tool }) => appOf(tool) ?? []))) {
      if (this.asked.has(uri) || this.asked.size >= mostPages) continue;
      this.asked.add(uri);
      this.last = this.last.then(() => this.look(uri));
    }
  }

  /** Has to be called with what was answered when a resource was read. */
  note(uri: string, outcome: OtherOutcome | PoolFailure): void {
    if (!this.asked.has(uri) || !this.judge(uri, outcome)) return;
    this.deps.onChange();
  }

  problems(server: string, places: ServerPlaces): Problem[] {
    return [...this.faults].flatMap(([uri, fault]) => {
      const names = this.tools.flatMap(({ original, tool }) => (appOf(tool) === uri ? [original] : []));
      return fault === undefined || names.length === 0
        ? []
        : [appUnusable(server, places, clipped(uri, longestUri), names, fault)];
    });
  }

  private async look(uri: string): Promise<void> {
    const { signal, read } = this.deps;
    if (signal.aborted) return;
    if (!uri.startsWith('ui://')) return this.note(uri, { kind: 'result', result: {} });
    const outcome = await read({ method: 'resources/read', params: { uri }, signal, instance: 'any' });
    if (outcome && !signal.aborted) this.note(uri, outcome);
  }

  /** Returns whether anything is new. */
  private judge(uri: string, outcome: OtherOutcome | PoolFailure): boolean {
    if (outcome.kind !== 'result' && outcome.kind !== 'error') return false;
    const fault = outcome.kind === 'result' ? appFault(uri, outcome.result['contents']) : this.refused(outcome);
    const isNew = !this.faults.has(uri) || this.faults.get(uri) !== fault;
    this.faults.set(uri, fault);
    return isNew;
  }

  private refused({ code, message }: Extract<OtherOutcome, { kind: 'error' }>): string {
    const said = clipped(this.deps.redact(message), longestError);
    return code === errorCodes.methodNotFound
      ? 'the server has no resources'
      : `the server does not give it (${said.replace(/\.$/, '')})`;
  }
}
