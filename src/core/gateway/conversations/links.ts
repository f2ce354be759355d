import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { BoundedMap } from '../../base/boundedMap.js';
import type { Destination } from '../../protocol/request.js';
import { longestUri } from '../../tools/uris.js';

const mostLinks = 1_000;

/** More holders of one link still count as several. */
const mostHolders = 16;

/**
 * Each link is read from its own instance. Two conversations may have different resources under one
 * URI (G3).
 */
export class Links {
  private readonly made = new BoundedMap<string, BoundedMap<string, Destination>>(mostLinks);

  set(uri: string, destination: Destination): void {
    const holders = this.made.get(uri) ?? new BoundedMap<string, Destination>(mostHolders);
    holders.set(destination.conversation, destination);
    this.made.set(uri, holders);
  }

  /** Remembers the links of a result. */
  add({ content }: CallToolResult, origin: Destination): void {
    for (const part of content) {
      if (part.type !== 'resource_link' || typeof part.uri !== 'string') continue;
      if (part.uri.length <= longestUri) this.set(part.uri, origin);
    }
  }

  /** One for each conversation; the newest is the last. */
  holders(uri: string): readonly Destination[] {
    return [...(this.made.get(uri)?.values() ?? [])];
  }
}
