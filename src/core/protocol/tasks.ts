/** A server of 2026-07-28 may answer a call with a task before its result (`io.modelcontextprotocol/tasks`). */
import { isObject } from '../base/isObject.js';
import { errorCodes, type RpcError } from './errors.js';

type Fields = Readonly<Record<string, unknown>>;

export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** Requests of clients about the task in `taskId`. */
export const taskMethods: readonly string[] = ['tasks/get', 'tasks/update', 'tasks/cancel'];

/**
 * Only inside this program, in place of `subscriptions/listen`: a client begins and ends to watch the task in `taskId`.
 */
export const watchTask = 'tasks/watch';
export const unwatchTask = 'tasks/unwatch';

/** With all fields of `tasks/get`. */
export const taskChanged = 'notifications/tasks';

export function isAboutTask(method: string): boolean {
  return method === watchTask || taskMethods.includes(method);
}

const finalStates: readonly unknown[] = ['completed', 'failed', 'cancelled'];

/** @param declared by a client or by a server */
export function knowsTasks({ extensions }: { readonly extensions?: unknown }): boolean {
  return isObject(extensions) && isObject(extensions[tasksExtension]);
}

/** Returns the id of the task answering a call; undefined if the answer is a result. */
export function taskIn(result: object): string | undefined {
  const { resultType, taskId } = result as { resultType?: unknown; taskId?: unknown };
  return resultType === 'task' && isKeptId(taskId) ? taskId : undefined;
}

/** True if a tool of a 2025-11-25 server must be called as a task, a different feature in this version. */
export function needsTask({ execution }: { readonly execution?: unknown }): boolean {
  return isObject(execution) && execution['taskSupport'] === 'required';
}

/** True if an answer to `tasks/get` is the last report of the task. */
export function isFinal({ status }: Fields): boolean {
  return finalStates.includes(status);
}

/** Returns the result of a finished task; undefined if it has none. */
export function resultOfTask({ status, result }: Fields): Fields | undefined {
  return status === 'completed' && isObject(result) ? result : undefined;
}

export function withoutTasks(declared: Fields): Fields {
  if (!knowsTasks(declared)) return declared;
  const others = Object.entries(declared['extensions'] as Fields).filter(([id]) => id !== tasksExtension);
  return { ...declared, extensions: Object.fromEntries(others) };
}

/** The error for a client asking about a task without having declared tasks. */
export const tasksNotDeclared: RpcError = {
  code: errorCodes.missingCapability,
  message: 'The client has not declared that it supports tasks.',
  data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
};

/** The longest id, in characters. */
const longest = 1_024;

export function isKeptId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longest;
}
