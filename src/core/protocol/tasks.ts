/**
 * Tasks, by which a server of 2026-07-28 answers a call before it is done (the extension `io.modelcontextprotocol/tasks`).
 * Everything here is pure.
 */
import { isObject } from '../base/isObject.js';
import { errorCodes, type RpcError } from './errors.js';
import { isKeptId } from './keptIds.js';

type Fields = Readonly<Record<string, unknown>>;

export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** What a client asks of a task, by its id in `taskId`. */
export const taskMethods: readonly string[] = ['tasks/get', 'tasks/update', 'tasks/cancel'];

/**
 * By these a client begins and ceases to be told of a task, in `taskId`. They stand for what clients and servers say by
 * `subscriptions/listen`, and neither knows them.
 */
export const watchTask = 'tasks/watch';
export const unwatchTask = 'tasks/unwatch';

/** What is told of a task, with all that `tasks/get` says of it. */
export const taskChanged = 'notifications/tasks';

/** Says whether a request is about one task. */
export function isAboutTask(method: string): boolean {
  return method === watchTask || taskMethods.includes(method);
}

const finalStates: readonly unknown[] = ['completed', 'failed', 'cancelled'];

/** @param declared by a client or by a server */
export function knowsTasks({ extensions }: { readonly extensions?: unknown }): boolean {
  return isObject(extensions) && isObject(extensions[tasksExtension]);
}

/** Returns the id of the task as which a call was answered; undefined where it has its result. */
export function taskIn(result: object): string | undefined {
  const { resultType, taskId } = result as { resultType?: unknown; taskId?: unknown };
  return resultType === 'task' && isKeptId(taskId) ? taskId : undefined;
}

/** Says whether a tool of a server of 2025-11-25 has to be called as a task of that version, which was another thing. */
export function needsTask({ execution }: { readonly execution?: unknown }): boolean {
  return isObject(execution) && execution['taskSupport'] === 'required';
}

/** Says whether what `tasks/get` was answered with is the last that will be said of the task. */
export function isFinal({ status }: Fields): boolean {
  return finalStates.includes(status);
}

/** Returns the result with which a task ended; undefined where it has none. */
export function resultOfTask({ status, result }: Fields): Fields | undefined {
  return status === 'completed' && isObject(result) ? result : undefined;
}

/** Returns what a client declared, without tasks. */
export function withoutTasks(declared: Fields): Fields {
  if (!knowsTasks(declared)) return declared;
  const others = Object.entries(declared['extensions'] as Fields).filter(([id]) => id !== tasksExtension);
  return { ...declared, extensions: Object.fromEntries(others) };
}

/** The error that a request about a task gets from a client that has not declared that it knows tasks. */
export const tasksNotDeclared: RpcError = {
  code: errorCodes.missingCapability,
  message: 'The client has not declared that it supports tasks.',
  data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
};
