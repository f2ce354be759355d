/**
 * Remembers the links that results held, as each is read from the instance that made it. What servers call the same is
 * another thing in each conversation (G3), so that one URI may have several holders.
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { Destination } from '../protocol/request.js';
import { longestUri } from '../tools/uris.js';

/** This many links are remembered; the oldest is forgotten. */
const mostLinks = 1_000;

/** This many conversations are known that were given the same link. They are several also when the oldest is forgotten. */
const mostHolders = 16;

export class Links {
  private readonly made = new BoundedMap<string, BoundedMap<string, Destination>>(mostLinks);

  set(uri: string, destination: Destination): void {
    const holders = this.made.get(uri) ?? new BoundedMap<string, Destination>(mostHolders);
    holders.set(destination.conversation, destination);
    this.made.set(uri, holders);
  }

  /** Remembers the links in a result. */
  note({ content }: { readonly content: readonly { readonly type: string }[] }, origin: Destination): void {
    for (const part of content) {
      const { uri } = part as { uri?: unknown };
      if (part.type !== 'resource_link' || typeof uri !== 'string' || uri.length > longestUri) continue;
      this.set(uri, origin);
    }
  }

  /** Returns the places where it was made, one for each conversation; the newest is the last. */
  holders(uri: string): readonly Destination[] {
    return [...(this.made.get(uri)?.values() ?? [])];
  }
}
