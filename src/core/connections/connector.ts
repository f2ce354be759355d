/** The seam through which the rest of the core starts servers; the real one is made by `createConnector`. */
import type { Log } from '../base/log.js';
import type { Launch } from '../config/model.js';
import type { ConnectOutcome } from './connection.js';
import type { Fields } from './serverClient.js';

export interface ConnectRequest {
  /** The server's id, for messages and logs. */
  readonly server: string;
  readonly launch: Launch;
  /** Connect, initialize and list every page within this, in milliseconds (spec X3). */
  readonly timeoutMs: number;
  /** Aborting ends the attempt and everything it started; the outcome is `cancelled`. */
  readonly signal: AbortSignal;
  /** The server's own log: stderr, stray stdout lines, `notifications/message`, JSON-RPC trace. */
  readonly log: Log;
  /** Of the clients it is for, as they announced them; by default none. */
  readonly capabilities?: Fields;
}

export interface Connector {
  /** Never rejects for what a server does. When it resolves with `failed` or `cancelled`, nothing of the attempt is left. */
  connect(request: ConnectRequest): Promise<ConnectOutcome>;
  /** Ends what the connector itself keeps (the guardian process). Connections are ended by their owners. */
  dispose(): Promise<void>;
}
