/**
 * Extensions of 2026-07-28 unknown here. Only the specification of an extension lists its methods, so everything
 * possibly belonging to one passes unchanged (X8). Everything here is pure.
 */
import { isObject } from '../base/isObject.js';
import { uiExtension } from './client.js';
import { tasksExtension } from './tasks.js';

/** The capabilities of a client or a server. */
interface Declared {
  readonly extensions?: unknown;
}

/** These families belong to the protocol, or would name tools and prompts, with different names here. */
const ownFamilies = [
  ...['server', 'tools', 'prompts', 'completion', 'logging', 'sampling', 'elicitation', 'roots'],
  ...['subscriptions', 'notifications', 'tasks', 'initialize', 'ping'],
];
const ownMethods = ['list', 'read', 'templates/list', 'subscribe', 'unsubscribe'].map((name) => `resources/${name}`);
const ownNotifications = ['cancelled', 'initialized', 'progress', 'message', 'subscriptions/acknowledged', 'tasks'].map(
  (name) => `notifications/${name}`,
);
/** The method is also a header. */
const methodShape = /^[\w$.-]+(?:\/[\w$.-]+)*$/;
const longestMethod = 256;

/** Returns the ids of the extensions unknown here. */
function othersIn({ extensions }: Declared): string[] {
  if (!isObject(extensions)) return [];
  return Object.keys(extensions).filter(
    (id) => id !== uiExtension && id !== tasksExtension && isObject(extensions[id]),
  );
}

/** True if a request may belong to an extension of the server. */
export function mayBeOfExtension(method: string, server: Declared): boolean {
  if (othersIn(server).length === 0 || method.length > longestMethod || !methodShape.test(method)) return false;
  const [family = ''] = method.split('/', 1);
  return !ownFamilies.includes(family) && !ownMethods.includes(method);
}

/** True if a notification may belong to an extension of the server. */
export function mayBeToldByExtension(notification: string, server: Declared): boolean {
  const isOwn = ownNotifications.includes(notification) || notification.endsWith('/list_changed');
  return !isOwn && notification.length <= longestMethod && othersIn(server).length > 0;
}

/** True if both sides have the same unknown extension, so the server may answer with it. */
export function shareExtension(client: Declared, server: Declared): boolean {
  const ofServer = othersIn(server);
  return othersIn(client).some((id) => ofServer.includes(id));
}

/** Returns the unknown extensions declared by a client. */
export function otherExtensions(client: Declared): Readonly<Record<string, unknown>> {
  const { extensions } = client;
  return Object.fromEntries(othersIn(client).map((id) => [id, (extensions as Record<string, unknown>)[id]]));
}
