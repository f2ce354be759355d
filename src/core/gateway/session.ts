/**
 * One MCP session: the calls it has in flight, the streams it listens on, and what its client knows of the tools.
 *
 * `list_changed` is owed while the list differs from the one the client last asked for (at first: the one it was
 * initialised with). It is told on the newest listening stream when the change is announced, again whenever a listening
 * stream opens (what an earlier one carried may be lost), and before the result of a call during which the list
 * changed, because the editor then has the new tools before the model reads the result. Nothing is told to a client
 * that has asked since.
 */
import { randomUUID } from 'node:crypto';
import type { ClientKind } from './backend.js';
import type { MessageStream, OpenStream, Reply } from './eventStreams.js';
import { notificationMessage, type RequestId } from './jsonRpc.js';
import type { Listing } from './listings.js';
import type { ProtocolVersion } from './protocol.js';

/** More listening streams than a client has use for; the oldest makes room. */
const maxStreams = 8;

const listChanged = notificationMessage('notifications/tools/list_changed');

export interface CallInFlight {
  readonly controller: AbortController;
  readonly reply: Reply;
  /** Of the list when the call began. */
  readonly listVersion: number;
}

export class Session {
  readonly id = randomUUID();
  readonly toolset: string;
  readonly clientKind: ClientKind;
  readonly calls = new Map<RequestId, CallInFlight>();
  hasListed = false;
  private readonly streams: OpenStream[] = [];
  /** The client has the list of this version, or is about to read it. */
  private knownVersion: number;
  /** The client was told of the list of this version, on whatever stream. */
  private toldVersion: number;

  constructor(
    readonly listing: Listing,
    readonly protocolVersion: ProtocolVersion,
    /** Milliseconds since the epoch. */
    public lastUsed: number,
  ) {
    this.toolset = listing.toolset;
    this.clientKind = listing.clientKind;
    this.knownVersion = listing.version;
    this.toldVersion = listing.version;
  }

  get isListening(): boolean {
    return this.streams.length > 0;
  }

  listen(stream: OpenStream): void {
    this.streams.push(stream);
    if (this.streams.length > maxStreams) this.streams.shift()?.end();
    this.listing.refreshIfStale();
    if (this.knownVersion !== this.listing.version) this.tell(stream);
  }

  stopListening(stream: OpenStream): void {
    const index = this.streams.indexOf(stream);
    if (index >= 0) this.streams.splice(index, 1);
  }

  /** The list may have changed. */
  announce(): void {
    const newest = this.streams.at(-1);
    if (newest && this.knownVersion !== this.listing.version) this.tell(newest);
  }

  /** A call is about to be answered on `reply`. */
  tellBeforeResult(call: CallInFlight): void {
    this.listing.refreshIfStale();
    const { version } = this.listing;
    if (this.knownVersion === version) return;
    if (call.listVersion !== version || this.toldVersion !== version) this.tell(call.reply);
  }

  /** The client reads the list as it is now. */
  noteListed(): void {
    this.hasListed = true;
    this.knownVersion = this.listing.version;
    this.toldVersion = this.listing.version;
  }

  cancel(id: RequestId): boolean {
    const call = this.calls.get(id);
    if (!call) return false;
    this.calls.delete(id);
    call.controller.abort();
    call.reply.settle(undefined);
    return true;
  }

  /** Calls that are not cancelled run on, and are answered if their stream still is there. */
  close(options: { cancelCalls: boolean }): void {
    if (options.cancelCalls) for (const id of [...this.calls.keys()]) this.cancel(id);
    for (const stream of this.streams.splice(0)) stream.end();
  }

  private tell(stream: MessageStream): void {
    this.toldVersion = this.listing.version;
    stream.send(listChanged);
  }
}
