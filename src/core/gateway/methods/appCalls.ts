/**
 * Requests of apps in the editor (G8), which do not name their conversation. Another client's app is
 * a part of its conversation.
 */
import { randomUUID } from 'node:crypto';
import { withoutToken } from '../../apps/editorApps.js';
import { BoundedMap } from '../../base/boundedMap.js';
import type { Fields } from '../../protocol/client.js';
import type { Destination } from '../../protocol/request.js';
import { metaOf } from '../../protocol/versions.js';
import type { Client } from '../conversations/client.js';
import { conversationOf } from '../conversations/conversationIds.js';

/** The oldest is forgotten, and its apps get an error. */
const mostOpenings = 1_000;

/** Remembers the conversation of each opened app, by a token that nobody can guess. */
export class AppOpenings {
  private readonly openings = new BoundedMap<string, Destination>(mostOpenings);

  open({ toolset, conversation }: Destination): string {
    const known = this.of(toolset).find(([, each]) => each.conversation === conversation);
    const token = known?.[0] ?? randomUUID();
    this.openings.set(token, { toolset, conversation });
    return token;
  }

  /** An app without a token is identified only if one conversation has opened apps. */
  find(toolset: string, token: string): Destination | undefined {
    const all = this.of(toolset);
    const [found, ...others] = token === '' ? all : all.filter(([each]) => each === token);
    return others.length === 0 ? found?.[1] : undefined;
  }

  private of(toolset: string): [token: string, destination: Destination][] {
    return [...this.openings].filter(([, each]) => each.toolset === toolset);
  }
}

export interface Origin {
  /** The parameters without the token of an app. */
  readonly asked: Fields;
  /** The conversation of the app that asks; undefined if the client itself asks. */
  readonly ofApp: Destination | undefined;
}

interface AppDeps {
  readonly namesConversations: boolean;
  readonly openings: AppOpenings;
}

/** Returns undefined for an app whose conversation is unknown. */
export function originOf(
  params: Fields,
  { listing, conversation }: Client,
  { namesConversations, openings }: AppDeps,
): Origin | undefined {
  const ofClient: Origin = { asked: params, ofApp: undefined };
  const mayBeApp = listing.policy.apps === 'ofEditor' && namesConversations;
  if (!mayBeApp || conversationOf(metaOf(params)) !== undefined) return ofClient;
  const { asked, token } = withoutToken(params);
  const { name } = asked;
  const isForApps = typeof name === 'string' && listing.isForAppsAlone(name);
  if (token === undefined && !isForApps) return ofClient;
  const { toolset } = listing;
  if (conversation && !listing.served?.isLeased)
    return { asked, ofApp: { toolset, conversation: conversation.id } };
  const ofApp = openings.find(toolset, token ?? '');
  return ofApp && { asked, ofApp };
}
