/**
 * The tasks of one server, bounded in number and time. An instance with a task neither idles nor
 * makes room (L2).
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { asText } from '../base/text.js';
import type { TimedRequest } from '../connections/connection.js';
import type { Fields } from '../protocol/client.js';
import { errorCodes } from '../protocol/errors.js';
import type { OtherOutcome, ServerOutcome } from '../protocol/request.js';
import { isFinal, taskIn } from '../protocol/versions.js';
import type { Instance } from './instance.js';

const mostTasks = 10_000;
export const longestTaskMs = 24 * 3_600_000;

const none = {
  kind: 'error',
  code: errorCodes.invalidParams,
  message: 'There is no such task here.',
} as const;

interface Task {
  readonly id: string;
  readonly instance: Instance;
  readonly conversation: string;
  readonly tool: string;
  limit: Disposable | undefined;
}

export class Tasks {
  private readonly known = new BoundedMap<string, Task>(mostTasks, (lost) => this.lose(lost));

  /** @param areShared true if all conversations share one instance and its ids of tasks */
  constructor(
    private readonly clock: Clock,
    private readonly areShared: boolean,
  ) {}

  begin(result: object, instance: Instance, conversation: string, tool: string): void {
    const id = taskIn(result);
    if (id === undefined) return;
    const task: Task = {
      id,
      instance,
      conversation,
      tool,
      limit: undefined,
    };
    this.known.set(this.keyOf(id, conversation), task);
    this.watch(task, result as Fields);
  }

  async request<Otherwise>(
    request: TimedRequest,
    conversation: string,
    otherwise?: () => Promise<Otherwise>,
  ): Promise<Otherwise | ServerOutcome<Fields> | OtherOutcome> {
    const id = asText(request.params['taskId']);
    const task = this.of(id, conversation);
    if (!task || task.instance.phase !== 'live') return otherwise ? await otherwise() : none;
    const outcome = await task.instance.request(request);
    if (request.method === 'tasks/get' && outcome.kind === 'result')
      this.watch(task, outcome.result);
    return outcome.kind === 'result' ? { ...outcome, tool: task.tool } : outcome;
  }

  of(id: string, conversation: string): Task | undefined {
    return this.known.get(this.keyOf(id, conversation));
  }

  private keyOf(id: string, conversation: string): string {
    return this.areShared ? id : JSON.stringify([conversation, id]);
  }

  /**
   * Has to be called when the instance has ended. The server of a shared one may still know the
   * task (X8f).
   */
  forget(instance: Instance): void {
    for (const [key, task] of this.known) {
      if (task.instance !== instance) continue;
      task.limit?.dispose();
      if (!this.areShared) this.known.delete(key);
    }
  }

  private lose(task: Task): void {
    task.limit?.dispose();
    const isSame = this.of(task.id, task.conversation)?.instance === task.instance;
    if (!isSame) task.instance.endTask(task.id);
  }

  /** Ends the task if the server says that it is over, and otherwise when its time is up. */
  private watch(task: Task, said: Fields): void {
    task.limit?.dispose();
    const endTask = (): void => task.instance.endTask(task.id);
    if (isFinal(said)) return endTask();
    const { ttlMs } = said;
    const ms =
      typeof ttlMs === 'number' && ttlMs >= 0 ? Math.min(ttlMs, longestTaskMs) : longestTaskMs;
    task.limit = this.clock.after(ms, endTask);
  }
}
