/**
 * Remembers the conversation of each opened app (G8), by a token in the app's calls. Nobody can guess a token, so an
 * app reaches only its own conversation.
 */
import { randomUUID } from 'node:crypto';
import { BoundedMap } from '../../base/boundedMap.js';
import type { Destination } from '../../protocol/request.js';

/** The oldest is forgotten, and its apps get an error. */
const mostOpenings = 1_000;

export class AppOpenings {
  private readonly openings = new BoundedMap<string, Destination>(mostOpenings);
  private readonly tokens = new BoundedMap<string, string>(mostOpenings);

  /** Returns the token of a conversation and a toolset, the same for all its apps. */
  open({ toolset, conversation }: Destination): string {
    const key = JSON.stringify([toolset, conversation]);
    const token = this.tokens.get(key) ?? randomUUID();
    this.tokens.set(key, token);
    this.openings.set(token, { toolset, conversation });
    return token;
  }

  /**
   * Returns the conversation of a token. An app without a token is identified only if one conversation has opened
   * apps.
   */
  find(toolset: string, token: string): Destination | undefined {
    if (token !== '') {
      const found = this.openings.get(token);
      return found?.toolset === toolset ? found : undefined;
    }
    const all = [...this.openings.values()].filter((each) => each.toolset === toolset);
    return all.length === 1 ? all[0] : undefined;
  }
}
