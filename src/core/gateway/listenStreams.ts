/**
 * Keeps the streams of `subscriptions/listen`, on which clients of the modern era hear of changes (G2). Invariant: what
 * a stream says comes after its acknowledgement.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Fields, ServerClient } from '../protocol/client.js';
import { RpcFailure, errorCodes } from '../protocol/errors.js';
import { metaKeys, metaOf } from '../protocol/requestMeta.js';
import type { ServedToolset } from './backend.js';
import { ListenStream, type Heartbeat } from './eventStreams.js';
import { notificationMessage, type RequestId } from './jsonRpc.js';
import { topics, type Listing, type Topic } from './listings.js';
import { capabilitiesOf } from './methods.js';
import type { MethodDeps } from './requests.js';

interface Listener {
  readonly listing: Listing;
  readonly topics: readonly Topic[];
  readonly versions: Map<Topic, number>;
  readonly tell: Tell;
}

type Tell = (method: string, params?: Fields) => void;

/** Who listens, and to what. */
interface Listening {
  readonly id: RequestId;
  /** What it asks to be told of. */
  readonly wanted: Fields;
  readonly served: ServedToolset;
  readonly listing: Listing;
  readonly declared: Fields;
  /** The conversation whose instance it wants to hear; absent where all share one, or nothing tells which is meant. */
  readonly dialog?: string;
}

const filterKeys: Readonly<Record<Topic, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
};

interface ListenStreamsDeps {
  readonly methods: Pick<MethodDeps, 'backend' | 'log'>;
  readonly heartbeat: Heartbeat;
}

export class ListenStreams {
  private readonly listeners = new Set<Listener>();

  constructor(private readonly deps: ListenStreamsDeps) {}

  open(response: ServerResponse, { id, wanted, served, listing, declared, dialog }: Listening): void {
    const offered = capabilitiesOf(served);
    const heard = topics.filter((topic) => wanted[filterKeys[topic]] === true && offered[topic] !== undefined);
    const isOfNobody = served.isLeased === true && dialog === undefined;
    const uris = served.features.subscribe && !isOfNobody ? textsIn(wanted['resourceSubscriptions']) : [];
    const stream = new ListenStream(response, this.deps.heartbeat);
    const meta = { [metaKeys.subscriptionId]: id };
    const tell: Tell = (method, params = {}) =>
      stream.send(notificationMessage(method, { ...params, _meta: { ...metaOf(params), ...meta } }));
    tell('notifications/subscriptions/acknowledged', {
      notifications: {
        ...Object.fromEntries(heard.map((topic) => [filterKeys[topic], true])),
        ...(uris.length > 0 && { resourceSubscriptions: uris }),
      },
    });
    const versions = new Map(heard.map((topic) => [topic, listing.versionOf(topic)]));
    const listener = { listing, topics: heard, versions, tell };
    this.listeners.add(listener);
    const client = new ListeningClient(listing, declared, tell);
    for (const uri of uris) this.subscribe(listing.toolset, dialog ?? randomUUID(), uri, client);
    response.once('close', () => {
      this.listeners.delete(listener);
      client.isGone = true;
      this.deps.methods.backend.noteClient(client, 'gone');
    });
  }

  /** Tells those who listen for it that a list has changed. */
  announce(listing: Listing): void {
    for (const listener of this.listeners) {
      if (listener.listing !== listing) continue;
      for (const topic of listener.topics) {
        const version = listing.versionOf(topic);
        if (listener.versions.get(topic) === version) continue;
        listener.versions.set(topic, version);
        listener.tell(`notifications/${topic}/list_changed`);
      }
    }
  }

  private subscribe(toolset: string, dialog: string, uri: string, client: ServerClient): void {
    const { backend, log } = this.deps.methods;
    const { signal } = new AbortController();
    const request = { toolset, dialog, method: 'resources/subscribe', params: { uri }, signal, client };
    backend.request(request).catch((error: unknown) => log.write('error', `A subscription threw: ${String(error)}`));
  }
}

/** Hears of updates of resources, and can be asked nothing. Its end ends no lease, as others of its conversation go on. */
class ListeningClient implements ServerClient {
  readonly session = {};
  readonly logLevel = undefined;
  isGone = false;

  constructor(
    private readonly listing: Listing,
    readonly capabilities: Fields,
    private readonly hear: Tell,
  ) {}

  get audience(): ServerClient['audience'] {
    return this.listing.audience;
  }

  ask(): Promise<never> {
    return Promise.reject(new RpcFailure(errorCodes.internal, 'This client only listens.'));
  }

  tell(method: string, params: Fields): void {
    if (method === 'notifications/resources/updated') this.hear(method, params);
  }
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}
