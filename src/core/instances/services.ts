/** The shared services of the engine. `host/assemble` makes them once. */
import type { Clock } from '../base/clock.js';
import type { Log, Redactor } from '../base/log.js';
import type { Recorder } from '../calls/recorder.js';
import type { ExpectedClient } from '../protocol/client.js';
import type { Slots } from './limit.js';
import type { KnownConversations } from './serverConversations.js';
import type { StartTurns } from './startTurns.js';

export interface Services {
  readonly clock: Clock;
  /** The log of the engine, redacted. */
  readonly log: Log;
  /** Returns the log of one server, redacted. */
  readonly serverLog: (server: string) => Log;
  readonly redactor: Redactor;
  /** Records requests, and the starts, ends and edits of servers (H1b). */
  readonly recorder: Recorder;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  /** Starts servers within the limit of instances (L2). */
  readonly connector: Slots;
  readonly turns: StartTurns;
  /** Returns the client that will use an instance before one has called (G4). Read at each start. */
  readonly expectedClient: () => ExpectedClient;
  /** By default, no instance starts for a conversation that has not called. */
  readonly conversations: KnownConversations | undefined;
}
