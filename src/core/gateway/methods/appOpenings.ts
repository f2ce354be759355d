/**
 * Remembers which conversation opened an app (G8), by a token that the app's calls bring back. Nobody can guess a token,
 * so an app reaches no conversation but its own.
 */
import { randomUUID } from 'node:crypto';
import { BoundedMap } from '../../base/boundedMap.js';
import type { Destination } from '../../protocol/request.js';

/** The oldest is forgotten, and the apps of its conversation are told so. */
const mostOpenings = 1_000;

export class AppOpenings {
  private readonly openings = new BoundedMap<string, Destination>(mostOpenings);
  private readonly tokens = new BoundedMap<string, string>(mostOpenings);

  /** Returns the token of a conversation and a toolset: the same for each app that it opens. */
  open({ toolset, conversation }: Destination): string {
    const key = JSON.stringify([toolset, conversation]);
    const token = this.tokens.get(key) ?? randomUUID();
    this.tokens.set(key, token);
    this.openings.set(token, { toolset, conversation });
    return token;
  }

  /**
   * Returns what a token of this toolset stands for. An app that has none can only be meant where there is just one.
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
