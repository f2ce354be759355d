/** The shared services of the engine, which `assembly/assemble` makes once, and the input of a pool. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import type { Log, Redactor } from '../base/log.js';
import type { Recorder } from '../calls/recorder.js';
import type { ServerDefinition } from '../config/model.js';
import type { OfferKind, StartFailure, ToolListing } from '../connections/connection.js';
import type { FirstSeen } from '../connections/firstSeen.js';
import type { ExpectedClient } from '../protocol/client.js';
import type { Instance, InstanceUse } from './instance.js';
import type { LimitedConnector } from './limit.js';
import type { KnownConversations, ServerConversations } from './serverConversations.js';
import type { StartTurns } from './startTurns.js';

export interface Services {
  readonly clock: Clock;
  readonly log: Log;
  readonly serverLog: (server: string) => Log;
  readonly redactor: Redactor;
  readonly recorder: Recorder;
  readonly random: () => number;
  readonly connector: LimitedConnector;
  readonly turns: StartTurns;
  readonly firstSeen: FirstSeen;
  /**
   * Returns the client that will use an instance before one has called (G4). Read at each start.
   */
  readonly expectedClient: () => ExpectedClient;
  /** By default, no instance starts for a conversation that has not called. */
  readonly conversations: KnownConversations | undefined;
}

export type PoolEvent =
  /** A spare instance became the lease of a conversation. */
  | { readonly kind: 'spareTaken'; readonly instance: Instance }
  | { readonly kind: 'changed' }
  | {
      readonly kind: 'offerChanged';
      readonly instance: Instance;
      readonly offer: OfferKind;
    }
  | {
      readonly kind: 'died';
      readonly cause: string;
      readonly use: InstanceUse;
    }
  | {
      readonly kind: 'started';
      readonly instance: Instance;
      readonly listing: ToolListing;
    }
  | { readonly kind: 'startFailed'; readonly failure: StartFailure }
  | {
      readonly kind: 'taskResult';
      readonly tool: string;
      readonly result: CallToolResult;
    };

export interface PoolDeps {
  readonly services: Services;
  readonly server: string;
  /** Returns the definition of this moment. Its launch never changes. */
  readonly definition: () => ServerDefinition;
  readonly conversations: ServerConversations;
  readonly onEvent: (event: PoolEvent) => void;
}
