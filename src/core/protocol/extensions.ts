/**
 * Extensions of the protocol that are not known here, of 2026-07-28: what may be a part of one, so that it is passed on
 * as it is (X8). Which method belongs to which extension, its specification alone says. Everything here is pure.
 */
import { isObject } from '../base/isObject.js';
import { uiExtension } from './client.js';
import { tasksExtension } from './tasks.js';

/** What a client or a server declares. */
interface Declared {
  readonly extensions?: unknown;
}

/** Methods that begin so are the protocol's own, or would name tools and prompts, which have other names here. */
const ownFamilies = [
  ...['server', 'tools', 'prompts', 'completion', 'logging', 'sampling', 'elicitation', 'roots'],
  ...['subscriptions', 'notifications', 'tasks', 'initialize', 'ping'],
];
const ownMethods = ['list', 'read', 'templates/list', 'subscribe', 'unsubscribe'].map((name) => `resources/${name}`);
const ownNotifications = ['cancelled', 'initialized', 'progress', 'message', 'subscriptions/acknowledged', 'tasks'].map(
  (name) => `notifications/${name}`,
);
/** It stands in a header, too. */
const methodShape = /^[\w$.-]+(?:\/[\w$.-]+)*$/;
const longestMethod = 256;

/** Returns the ids of those that are not known here. */
function othersIn({ extensions }: Declared): string[] {
  if (!isObject(extensions)) return [];
  return Object.keys(extensions).filter(
    (id) => id !== uiExtension && id !== tasksExtension && isObject(extensions[id]),
  );
}

/** Says whether a request may be one of an extension that the server has. */
export function mayBeOfExtension(method: string, server: Declared): boolean {
  if (othersIn(server).length === 0 || method.length > longestMethod || !methodShape.test(method)) return false;
  const [family = ''] = method.split('/', 1);
  return !ownFamilies.includes(family) && !ownMethods.includes(method);
}

/** Says whether what a server tells may be of an extension that it has. */
export function mayBeToldByExtension(notification: string, server: Declared): boolean {
  const isOwn = ownNotifications.includes(notification) || notification.endsWith('/list_changed');
  return !isOwn && notification.length <= longestMethod && othersIn(server).length > 0;
}

/** Says whether both sides have one of them, so that the server may answer in its way. */
export function shareExtension(client: Declared, server: Declared): boolean {
  const ofServer = othersIn(server);
  return othersIn(client).some((id) => ofServer.includes(id));
}

/** Returns those that a client declares. */
export function otherExtensions(client: Declared): Readonly<Record<string, unknown>> {
  const { extensions } = client;
  return Object.fromEntries(othersIn(client).map((id) => [id, (extensions as Record<string, unknown>)[id]]));
}
