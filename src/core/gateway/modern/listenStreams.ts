/** The streams of `subscriptions/listen` (G2). Each begins with its acknowledgement. */
import { randomUUID } from 'node:crypto';
import { asText } from '../../base/text.js';
import {
  known,
  present,
  type ClientState,
  type Fields,
  type ServerClient,
} from '../../protocol/client.js';
import { RpcFailure, errorCodes } from '../../protocol/errors.js';
import { notificationMessage, resultMessage, type RequestId } from '../../protocol/jsonRpc.js';
import type { OtherOutcome } from '../../protocol/request.js';
import { metaKeys, metaOf, knowsTasks, taskChanged, watchTask } from '../../protocol/versions.js';
import type { ArtifactOrigin } from '../../results/artifacts.js';
import type { ServedToolset } from '../backend.js';
import { topics, type Listing, type Topic } from '../conversations/listings.js';
import type { ListenStream } from '../eventStreams.js';
import { capabilitiesOf } from '../methods/methods.js';
import { deliveredTask, unknownTool } from '../methods/otherRequests.js';
import type { MethodDeps } from '../methods/requests.js';

const mostTasks = 256;

interface Listening {
  readonly id: RequestId;
  readonly wanted: Fields;
  readonly served: ServedToolset;
  readonly listing: Listing;
  readonly declared: Fields;
  /** Its instance reports changes; undefined if all conversations share one. */
  readonly conversation: string | undefined;
  readonly serverMeta: Fields;
}

const filterKey = (topic: Topic): string => `${topic}ListChanged`;

/** Its end ends no lease, because its conversation goes on. */
export class Listener implements ServerClient {
  readonly session = {};
  readonly program = '';
  readonly capabilities: Fields;
  readonly logLevel = undefined;
  readonly conversation = undefined;
  readonly listedFor: string | undefined;
  readonly past = known;
  state: ClientState = present;

  private readonly topics: readonly Topic[];
  /** Empty before the acknowledgement. */
  private readonly versions = new Map<Topic, number>();
  private readonly origins = new Map<string, ArtifactOrigin>();
  private readonly meta: Fields;
  private readonly caller: string;
  /** Its reports about tasks go out one by one, after this. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly stream: ListenStream,
    readonly listening: Listening,
    private readonly deps: MethodDeps,
  ) {
    const { id, wanted, served, listing, declared, conversation } = listening;
    const offered = capabilitiesOf(served);
    this.capabilities = declared;
    this.listedFor = listing.conversation;
    this.topics = topics.filter(
      (topic) => wanted[filterKey(topic)] === true && offered[topic] !== undefined,
    );
    this.meta = { [metaKeys.subscriptionId]: id };
    this.caller = conversation ?? randomUUID();
  }

  begin(): void {
    const { wanted, served, conversation } = this.listening;
    const isOfNobody = served.isLeased && conversation === undefined;
    const uris =
      served.features.subscribe && !isOfNobody ? textsIn(wanted['resourceSubscriptions']) : [];
    const tasks =
      knowsTasks(served.features) && !isOfNobody
        ? textsIn(wanted['taskIds']).slice(0, mostTasks)
        : [];
    // The acknowledgement names only tasks accepted by the server, because a client may wait for
    // them without asking.
    if (tasks.length === 0) this.acknowledge(uris, []);
    else this.turn = this.agreed(tasks).then((agreed) => this.acknowledge(uris, agreed));
  }

  private acknowledge(uris: readonly string[], taskIds: readonly string[]): void {
    if (this.state.kind === 'gone') return;
    this.send('notifications/subscriptions/acknowledged', {
      notifications: {
        ...Object.fromEntries(this.topics.map((topic) => [filterKey(topic), true])),
        ...(uris.length > 0 && { resourceSubscriptions: uris }),
        ...(taskIds.length > 0 && { taskIds }),
      },
    });
    for (const topic of this.topics)
      this.versions.set(topic, this.listening.listing.versionOf(topic));
    for (const uri of uris) void this.subscribe('resources/subscribe', { uri });
  }

  announce(): void {
    for (const [topic, sent] of this.versions) {
      const version = this.listening.listing.versionOf(topic);
      if (sent === version) continue;
      this.versions.set(topic, version);
      this.send(`notifications/${topic}/list_changed`);
    }
  }

  private async agreed(taskIds: readonly string[]): Promise<string[]> {
    const agreed = await Promise.all(
      taskIds.map(async (taskId) => {
        const outcome = await this.subscribe(watchTask, { taskId });
        if (outcome?.kind !== 'result') return [];
        const { tool = unknownTool, toolset = this.listening.listing.toolset } = outcome;
        this.origins.set(taskId, {
          server: toolset,
          tool,
          conversation: this.caller,
        });
        return [taskId];
      }),
    );
    return agreed.flat();
  }

  /** Resolves to undefined after an exception. */
  private async subscribe(method: string, params: Fields): Promise<OtherOutcome | undefined> {
    const { toolset } = this.listening.listing;
    const { signal } = new AbortController();
    try {
      const request = {
        toolset,
        conversation: this.caller,
        client: this,
        method,
        params,
        signal,
      };
      return await this.deps.backend.request(request);
    } catch (error) {
      this.deps.log.write('error', `A subscription threw: ${asText(error)}`);
      return undefined;
    }
  }

  ask(): Promise<never> {
    return Promise.reject(new RpcFailure(errorCodes.internal, 'This client only listens.'));
  }

  tell(method: string, params: Fields): void {
    if (method === 'notifications/resources/updated') this.send(method, params);
    if (method === taskChanged) this.turn = this.turn.then(() => this.tellTask(params));
  }

  end(): void {
    this.turn = this.turn.then(() => this.finish());
  }

  private send(method: string, params: Fields = {}): void {
    this.stream.send(
      notificationMessage(method, { ...params, _meta: { ...metaOf(params), ...this.meta } }),
    );
  }

  private finish(): void {
    const { id, serverMeta } = this.listening;
    const result = { resultType: 'complete', _meta: { ...serverMeta, ...this.meta } };
    this.stream.send(resultMessage(id, JSON.stringify(result)));
    this.stream.end();
  }

  private async tellTask(params: Fields): Promise<void> {
    const { delivery, log } = this.deps;
    const origin = this.origins.get(asText(params['taskId']));
    if (!origin) return;
    try {
      this.send(
        taskChanged,
        await deliveredTask(params, delivery, this.listening.listing.policy, origin),
      );
    } catch (error) {
      log.write('error', `A notification of a task threw: ${asText(error)}`);
      // The client then asks for the task itself.
      this.finish();
    }
  }
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value)
    ? value.filter((each): each is string => typeof each === 'string')
    : [];
}
