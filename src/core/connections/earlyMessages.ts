/** Keeps what a server says before anybody can hear it, bounded: a server may say much and answer never (S2). */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { measured } from './listing.js';

const mostMessages = 100;
/** In characters, of all messages. */
const largest = 1024 * 1024;

export class EarlyMessages {
  private readonly kept: JSONRPCMessage[] = [];
  private size = 0;

  /** What does not fit is left out. */
  add(message: JSONRPCMessage): void {
    if (this.kept.length === mostMessages) return;
    const { characters, whatIsWrong } = measured(message);
    if (whatIsWrong !== undefined || this.size + characters > largest) return;
    this.size += characters;
    this.kept.push(message);
  }

  /** Returns what was kept, and keeps it no longer. */
  take(): readonly JSONRPCMessage[] {
    this.size = 0;
    return this.kept.splice(0);
  }
}
