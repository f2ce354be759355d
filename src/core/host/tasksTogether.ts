/**
 * Tasks at the endpoint of all toolsets. Two servers may use one id, so each id begins there with the id of its server,
 * which holds no slash. Everything is pure.
 */
import type { Fields, ServerClient } from '../protocol/client.js';
import { taskChanged, taskIn } from '../protocol/versions.js';

interface TaskOfServer {
  readonly server: string;
  /** The server's own id. */
  readonly taskId: string;
}

/** Returns undefined if the id is not from that endpoint. */
export function taskOfServer(id: unknown): TaskOfServer | undefined {
  if (typeof id !== 'string') return undefined;
  const slash = id.indexOf('/');
  return slash < 0 ? undefined : { server: id.slice(0, slash), taskId: id.slice(slash + 1) };
}

/** @param said a server's message about a task, with the id in `taskId` */
export function amongAll<Said extends Fields>(said: Said, server: string): Said {
  const { taskId } = said;
  return typeof taskId === 'string' ? { ...said, taskId: `${server}/${taskId}` } : said;
}

/** @param result the result of a call, which may be a task */
export function resultAmongAll<Result extends object>(result: Result, server: string): Result {
  return taskIn(result) === undefined ? result : (amongAll(result as Fields, server) as Result);
}

/**
 * Returns the client as one server sees it. Messages about tasks reach the client under their ids among all toolsets.
 */
export function toldAmongAll(client: ServerClient, server: string): ServerClient {
  return {
    session: client.session,
    capabilities: client.capabilities,
    logLevel: client.logLevel,
    listedFor: client.listedFor,
    get isGone() {
      return client.isGone === true;
    },
    ask: (method, params, signal, options) => client.ask(method, params, signal, options),
    tell: (method, params) => client.tell(method, method === taskChanged ? amongAll(params, server) : params),
    end: () => client.end?.(),
  };
}
