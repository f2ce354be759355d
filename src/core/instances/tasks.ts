/**
 * Knows the tasks of one server: which instance works on each, and for whom. A task belongs to the conversation whose call
 * it is, and nobody else is told that it is there. An instance that works on one neither idles nor makes room, and when it
 * is given back it ends with its last task (L2). Invariant: the number of tasks is bounded, and so is how long each holds
 * an instance.
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import type { TimedRequest } from '../connections/connection.js';
import type { Fields } from '../protocol/client.js';
import { errorCodes } from '../protocol/errors.js';
import type { OtherOutcome, ServerOutcome } from '../protocol/request.js';
import { isFinal, taskIn } from '../protocol/tasks.js';
import type { Instance } from './instance.js';

/** The one that was begun longest ago is forgotten. */
const mostTasks = 10_000;
/** A task of which nobody asks holds its instance no longer than this, in milliseconds, whatever its server says. */
export const longestTaskMs = 24 * 3_600_000;

const none = { kind: 'error', code: errorCodes.invalidParams, message: 'There is no such task here.' } as const;

interface Task {
  readonly instance: Instance;
  readonly dialog: string;
  /** The published name of the tool that began it. */
  readonly tool: string;
  limit: Disposable | undefined;
}

export class Tasks {
  private readonly byId = new BoundedMap<string, Task>(mostTasks);

  /** @param areShared whether all conversations share them, with the instance */
  constructor(
    private readonly clock: Clock,
    private readonly areShared: boolean,
  ) {}

  /** Takes note of the task, if the call was answered with one. */
  begin(result: object, instance: Instance, dialog: string, tool: string): void {
    const id = taskIn(result);
    if (id === undefined) return;
    const task: Task = { instance, dialog, tool, limit: undefined };
    this.byId.set(id, task);
    instance.hold(id);
    this.note(id, task, result as Fields);
  }

  /** Says whether an instance of this server works, or has worked, on a task of the dialog. */
  has(id: string, dialog: string): boolean {
    return this.of(id, dialog) !== undefined;
  }

  /**
   * Asks the instance that works on the task, also one that takes no calls any more.
   * @param otherwise asks where no instance is known to work on it
   */
  async request<Otherwise>(
    request: TimedRequest,
    dialog: string,
    otherwise?: () => Promise<Otherwise>,
  ): Promise<Otherwise | ServerOutcome<Fields> | OtherOutcome> {
    const id = String(request.params['taskId']);
    const task = this.of(id, dialog);
    if (!task || task.instance.isEnding) return otherwise ? await otherwise() : none;
    const outcome = await task.instance.request(request);
    if (request.method === 'tasks/get' && outcome.kind === 'result') this.note(id, task, outcome.result);
    return outcome.kind === 'result' ? { ...outcome, tool: task.tool } : outcome;
  }

  private of(id: string, dialog: string): Task | undefined {
    const task = this.byId.get(id);
    return this.areShared || task?.dialog === dialog ? task : undefined;
  }

  forget(instance: Instance): void {
    for (const [id, task] of this.byId) {
      if (task.instance !== instance) continue;
      task.limit?.dispose();
      this.byId.delete(id);
    }
  }

  private note(id: string, task: Task, said: Fields): void {
    task.limit?.dispose();
    const letGo = (): void => task.instance.letGo(id);
    if (isFinal(said)) return letGo();
    const { ttlMs } = said;
    const ms = typeof ttlMs === 'number' && ttlMs >= 0 ? Math.min(ttlMs, longestTaskMs) : longestTaskMs;
    task.limit = this.clock.after(ms, letGo);
  }
}
