/**
 * Keeps the streams of `subscriptions/listen`, on which modern clients learn about changes (G2). Invariant: a stream
 * begins with its acknowledgement.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { asText } from '../../base/text.js';
import type { Fields, ServerClient } from '../../protocol/client.js';
import { RpcFailure, errorCodes } from '../../protocol/errors.js';
import type { OtherOutcome } from '../../protocol/request.js';
import { metaKeys, metaOf } from '../../protocol/requestMeta.js';
import { knowsTasks, taskChanged, watchTask } from '../../protocol/tasks.js';
import type { ArtifactOrigin } from '../../results/artifacts.js';
import type { ServedToolset } from '../backend.js';
import { ListenStream, type Heartbeat } from '../eventStreams.js';
import { notificationMessage, resultMessage, type RequestId } from '../../protocol/jsonRpc.js';
import { topics, type Listing, type Topic } from '../conversations/listings.js';
import { capabilitiesOf } from '../methods/methods.js';
import type { MethodDeps } from '../methods/requests.js';
import { deliveredTask, unknownTool } from '../methods/taskResults.js';

interface Listener {
  readonly listing: Listing;
  readonly topics: readonly Topic[];
  readonly versions: Map<Topic, number>;
  readonly tell: Tell;
}

/** The origin of a subscription at an instance. */
interface Subscriber {
  readonly toolset: string;
  readonly conversation: string;
  readonly client: ListeningClient;
}

/** The largest number of tasks on one stream. */
const mostTasks = 256;

type Tell = (method: string, params?: Fields) => void;

/** A `subscriptions/listen` request. */
interface Listening {
  readonly id: RequestId;
  /** The requested notification filter. */
  readonly wanted: Fields;
  readonly served: ServedToolset;
  readonly listing: Listing;
  readonly declared: Fields;
  /** Its instance reports changes; undefined if all conversations share one. */
  readonly conversation: string | undefined;
  /** Our name in the result. */
  readonly serverMeta: Fields;
}

const filterKeys: Readonly<Record<Topic, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
};

interface ListenStreamsDeps {
  readonly methods: Pick<MethodDeps, 'backend' | 'log' | 'delivery'>;
  readonly heartbeat: Heartbeat;
}

export class ListenStreams {
  private readonly listeners = new Set<Listener>();

  constructor(private readonly deps: ListenStreamsDeps) {}

  open(response: ServerResponse, listening: Listening): void {
    const { id, wanted, served, listing, declared, conversation, serverMeta } = listening;
    const offered = capabilitiesOf(served);
    const heard = topics.filter((topic) => wanted[filterKeys[topic]] === true && offered[topic] !== undefined);
    const isOfNobody = served.isLeased === true && conversation === undefined;
    const uris = served.features.subscribe && !isOfNobody ? textsIn(wanted['resourceSubscriptions']) : [];
    const taskIds = knowsTasks(served.features) && !isOfNobody ? textsIn(wanted['taskIds']).slice(0, mostTasks) : [];
    const stream = new ListenStream(response, this.deps.heartbeat);
    const meta = { [metaKeys.subscriptionId]: id };
    const tell: Tell = (method, params = {}) =>
      stream.send(notificationMessage(method, { ...params, _meta: { ...metaOf(params), ...meta } }));
    const listener = { listing, topics: heard, versions: new Map<Topic, number>(), tell };
    const end = (): void => {
      stream.send(resultMessage(id, JSON.stringify({ resultType: 'complete', _meta: { ...serverMeta, ...meta } })));
      stream.end();
    };
    const client = new ListeningClient(listing, declared, { ...this.deps.methods, tell, end });
    const by = { toolset: listing.toolset, conversation: conversation ?? randomUUID(), client };
    const begin = (tasks: readonly string[]): void => {
      if (client.isGone) return;
      tell('notifications/subscriptions/acknowledged', {
        notifications: {
          ...Object.fromEntries(heard.map((topic) => [filterKeys[topic], true])),
          ...(uris.length > 0 && { resourceSubscriptions: uris }),
          ...(tasks.length > 0 && { taskIds: tasks }),
        },
      });
      for (const topic of heard) listener.versions.set(topic, listing.versionOf(topic));
      this.listeners.add(listener);
      for (const uri of uris) void this.subscribe('resources/subscribe', { uri }, by);
    };
    response.once('close', () => {
      this.listeners.delete(listener);
      client.isGone = true;
      this.deps.methods.backend.noteClient(client, 'gone');
    });
    // The acknowledgement names only tasks accepted by the server, because a client may wait for them without asking.
    if (taskIds.length === 0) begin([]);
    else client.after(this.agreed(taskIds, by).then(begin));
  }

  /** Reports a changed list to its listeners. */
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

  private async agreed(taskIds: readonly string[], by: Subscriber): Promise<string[]> {
    const agreed = await Promise.all(
      taskIds.map(async (taskId) => {
        const outcome = await this.subscribe(watchTask, { taskId }, by);
        if (outcome?.kind !== 'result') return [];
        const { tool = unknownTool, toolset = by.toolset } = outcome;
        by.client.origins.set(taskId, { server: toolset, tool, conversation: by.conversation });
        return [taskId];
      }),
    );
    return agreed.flat();
  }

  /** Resolves to undefined after an exception. */
  private async subscribe(method: string, params: Fields, by: Subscriber): Promise<OtherOutcome | undefined> {
    const { backend, log } = this.deps.methods;
    const { signal } = new AbortController();
    try {
      return await backend.request({ ...by, method, params, signal });
    } catch (error) {
      log.write('error', `A subscription threw: ${asText(error)}`);
      return undefined;
    }
  }
}

/**
 * Receives updates of resources and tasks, and answers no questions. Its end ends no lease, because its conversation
 * goes on.
 */
class ListeningClient implements ServerClient {
  readonly session = {};
  readonly logLevel = undefined;
  isGone = false;

  /** The origins of its tasks. */
  readonly origins = new Map<string, ArtifactOrigin>();
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly listing: Listing,
    readonly capabilities: Fields,
    private readonly deps: Pick<MethodDeps, 'delivery' | 'log'> & { readonly tell: Tell; readonly end: () => void },
  ) {}

  /** Reports about tasks one by one, after this turn. */
  after(turn: Promise<unknown>): void {
    this.turn = turn;
  }

  get listedFor(): string | undefined {
    return this.listing.conversation;
  }

  ask(): Promise<never> {
    return Promise.reject(new RpcFailure(errorCodes.internal, 'This client only listens.'));
  }

  tell(method: string, params: Fields): void {
    if (method === 'notifications/resources/updated') this.deps.tell(method, params);
    if (method === taskChanged)
      this.after(this.turn.then(() => this.tellTask(params)).catch((error: unknown) => this.failed(error)));
  }

  end(): void {
    this.after(this.turn.then(() => this.deps.end()));
  }

  /** The stream ends after an unreadable report, so the client asks for the task itself. */
  private failed(error: unknown): void {
    this.deps.log.write('error', `A notification of a task threw: ${asText(error)}`);
    this.deps.end();
  }

  private async tellTask(params: Fields): Promise<void> {
    const { tell, delivery } = this.deps;
    const origin = this.origins.get(asText(params['taskId']));
    const { clientKind } = this.listing;
    if (origin) tell(taskChanged, await deliveredTask(params, { ...origin, delivery, clientKind }));
  }
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}
