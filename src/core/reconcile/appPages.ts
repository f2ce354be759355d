/**
 * Checks the apps of one server's tools once, and when a client reads a page (G8). A missing answer
 * is no fault.
 */
import { english } from '../base/language.js';
import { appFault } from '../apps/appResource.js';
import { appOf } from '../apps/toolMeta.js';
import type { Redactor } from '../base/log.js';
import type { Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import { clipped, shortList } from '../base/text.js';
import type { InstancePool, PoolFailure } from '../instances/pool.js';
import { errorCodes } from '../protocol/errors.js';
import type { OtherOutcome } from '../protocol/request.js';
import type { PublishedTool } from '../tools/catalogue.js';
import type { At } from '../tools/problems.js';

const mostPages = 32;
const longestUri = 200;
const longestError = 300;

export class AppPages {
  private readonly faults = new Map<string, string | undefined>();
  private readonly asked = new Set<string>();
  private tools: readonly PublishedTool[] = [];
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly pool: InstancePool,
    private readonly signal: AbortSignal,
    private readonly redactor: Pick<Redactor, 'redact'>,
    private readonly onChange: () => void,
  ) {}

  follow(tools: readonly PublishedTool[]): void {
    this.tools = tools;
    for (const uri of new Set(tools.flatMap(({ tool }) => appOf(tool) ?? []))) {
      if (this.asked.has(uri) || this.asked.size >= mostPages) continue;
      this.asked.add(uri);
      this.last = this.last.then(() => this.look(uri));
    }
  }

  /** Has to be called with the outcome when a client reads a resource. */
  note(uri: string, outcome: OtherOutcome | PoolFailure): void {
    if (!this.asked.has(uri) || (outcome.kind !== 'result' && outcome.kind !== 'error')) return;
    let fault: string | undefined = 'the server has no resources';
    if (outcome.kind === 'result') fault = appFault(uri, outcome.result['contents']);
    else if (outcome.code !== errorCodes.methodNotFound) {
      const said = clipped(this.redactor.redact(outcome.message), longestError);
      fault = english`the server does not give it (${said.replace(/\.$/, '')})`;
    }
    const isNew = !this.faults.has(uri) || this.faults.get(uri) !== fault;
    this.faults.set(uri, fault);
    if (isNew) this.onChange();
  }

  problems(at: At): Problem[] {
    return [...this.faults].flatMap(([uri, fault]) => {
      const names = this.tools.flatMap(({ original, tool }) =>
        appOf(tool) === uri ? [`"${original}"`] : [],
      );
      if (fault === undefined || names.length === 0) return [];
      return [
        problemOf('app-unusable', at, {
          uri: clipped(uri, longestUri),
          fault,
          names: shortList(names, 5),
        }),
      ];
    });
  }

  private async look(uri: string): Promise<void> {
    const { signal } = this;
    if (signal.aborted) return;
    if (!uri.startsWith('ui://')) return this.note(uri, { kind: 'result', result: {} });
    if (!this.pool.open) return;
    const outcome = await this.pool.request('', {
      method: 'resources/read',
      params: { uri },
      signal,
      instance: 'any',
    });
    if (!signal.aborted) this.note(uri, outcome);
  }
}
