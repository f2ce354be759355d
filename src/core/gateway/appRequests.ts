/**
 * Tells what an app of the editor asks from what its conversations ask (G8), and finds the conversation that opened it.
 * Other clients are one conversation each, so their apps need none of this.
 */
import { withoutToken } from '../apps/editorApps.js';
import type { Fields } from '../protocol/client.js';
import { errorCodes } from '../protocol/errors.js';
import { metaOf } from '../protocol/requestMeta.js';
import type { Destination } from '../protocol/request.js';
import { conversationOf } from './conversationIds.js';
import { refusal, type Answer, type RequestContext } from './requests.js';

type Asked =
  | { readonly kind: 'conversation' }
  /** `asked` is what the app asks, as its server is to get it. */
  | { readonly kind: 'app'; readonly asked: Fields; readonly destination: Destination }
  | { readonly kind: 'refused'; readonly answer: Answer };

export function askedBy(params: Fields, { conversation, listing, deps }: RequestContext): Asked {
  if (listing.clientKind !== 'editor' || !deps.namesConversations) return { kind: 'conversation' };
  if (conversationOf(metaOf(params)) !== undefined) return { kind: 'conversation' };
  const { asked, token } = withoutToken(params);
  const { name } = asked;
  const { toolset } = listing;
  if (token === undefined && !(typeof name === 'string' && listing.isForAppsAlone(name))) {
    return { kind: 'conversation' };
  }
  const shared = listing.isLeased || !conversation ? undefined : { toolset, conversation: conversation.id };
  const destination = shared ?? deps.openings.find(toolset, token ?? '');
  if (destination) return { kind: 'app', asked, destination };
  const message = `"${toolset}" does not know which conversation opened this app, so the call was not made. Ask for the app again in the chat.`;
  return { kind: 'refused', answer: refusal(errorCodes.server, message) };
}
