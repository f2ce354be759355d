/**
 * Finds the conversation of a modern request (G3). Either the program names it in each request, or the request came
 * to an address of the conversation. Any other request to a toolset with leases is refused, because two conversations
 * must never share an instance by mistake.
 */
import type { ServedToolset } from '../backend.js';
import { appOf } from '../../apps/toolMeta.js';
import { showsApps } from '../../protocol/client.js';
import { errorCodes, type RpcError } from '../../protocol/errors.js';
import { metaOf } from '../../protocol/requestMeta.js';
import { taskMethods } from '../../protocol/tasks.js';
import { modernVersion } from '../../protocol/versions.js';
import type { Route } from '../routes.js';
import type { Conversation } from '../conversations/conversation.js';
import type { Conversations } from '../conversations/conversations.js';
import { readsStructureAlone } from '../dialect.js';
import { addressConversation, namedBy, namedConversation, namerOf } from '../conversations/conversationIds.js';
import type { Message } from '../../protocol/jsonRpc.js';
import type { Listing, Listings } from '../conversations/listings.js';
import type { StatelessTraits } from './statelessRequest.js';

type Request = Extract<Message, { kind: 'request' }>;

interface Asked {
  readonly route: Route;
  readonly served: ServedToolset;
  readonly message: Request;
  readonly traits: StatelessTraits;
}

export type Attributed =
  | {
      readonly kind: 'attributed';
      readonly listing: Listing;
      /** Undefined if one instance serves all, or if all conversations get the same answer. */
      readonly conversation: Conversation | undefined;
    }
  | { readonly kind: 'refused'; readonly status: number; readonly error: RpcError };

interface AttributionDeps {
  readonly conversations: Conversations;
  readonly listings: Listings;
}

/** The methods with an answer from an instance. */
export const ofInstances: readonly string[] = [
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
  ...taskMethods,
];

/** Completes the note to a conversation of an earlier run. */
const restarted = 'MCP Toolsets was started again';

export class Attribution {
  constructor(private readonly deps: AttributionDeps) {}

  of(asked: Asked): Attributed {
    const { route, served, message, traits } = asked;
    if (served.isLeased !== true) return this.ofNobody(asked);
    const namer = namerOf(traits.clientInfo);
    const named = namer === undefined ? undefined : namedBy(namer, metaOf(message.params));
    if (namer !== undefined && named !== undefined) return this.ofConversation(asked, namedConversation(namer, named));
    if (route.address !== undefined) {
      const lostBefore = traits.begunElsewhere ? restarted : undefined;
      return this.ofConversation(asked, addressConversation(route.address), lostBefore);
    }
    // A program with named conversations lists before it has one.
    const isForInstance = ofInstances.includes(message.method) && !isPageOfApp(message, served);
    return namer === undefined || isForInstance ? refused(400, unnamed) : this.ofNobody(asked);
  }

  private ofConversation(asked: Asked, id: string, lostBefore?: string): Attributed {
    const { route, traits } = asked;
    const { toolset, clientKind } = route;
    const listing = (): Listing =>
      this.deps.listings.of(toolset, clientKind, modernVersion, { ...readerOf(traits), conversation: id });
    const conversation = this.deps.conversations.of({ toolset, id }, listing, lostBefore);
    if (!conversation) {
      return refused(200, { code: errorCodes.server, message: 'Too many conversations are open.' });
    }
    return { kind: 'attributed', listing: conversation.listing, conversation };
  }

  private ofNobody({ route, traits }: Asked): Attributed {
    const { toolset, clientKind } = route;
    const listing = this.deps.listings.of(toolset, clientKind, modernVersion, readerOf(traits));
    return { kind: 'attributed', listing, conversation: undefined };
  }
}

/** The page of an app is the same for all conversations (G8). */
function isPageOfApp({ method, params }: Request, { tools }: ServedToolset): boolean {
  const uri = params?.['uri'];
  return method === 'resources/read' && typeof uri === 'string' && tools.some((tool) => appOf(tool) === uri);
}

function readerOf({ clientInfo, declared }: StatelessTraits): { readsStructureAlone: boolean; showsApps: boolean } {
  return { readsStructureAlone: readsStructureAlone(clientInfo), showsApps: showsApps(declared) };
}

function refused(status: number, error: RpcError): Attributed {
  return { kind: 'refused', status, error };
}

/** A client of both eras begins a session after this error. */
const unnamed: RpcError = {
  code: errorCodes.invalidRequest,
  message:
    'Each conversation has its own instance here, and this request does not say which conversation it belongs to. Let the client start `mcp-toolsets connect` as its server. Or give each conversation its own address: the address of the toolset, then /c/ and 22 or more random letters and digits. In a protocol version before 2026-07-28, begin a session with `initialize`.',
};
