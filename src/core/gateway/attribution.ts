/**
 * Says whose request a request of the modern era is, where no session does (G3). In this order: what the program is
 * known to say of its conversations, an address of its own, the legacy era, into which a client that speaks it is sent,
 * and a handle. What none of these tells belongs to nobody: it fails and says what to do, as two conversations must
 * never share an instance because nothing told them apart.
 */
import { asText } from '../base/text.js';
import type { ServedToolset } from './backend.js';
import { appOf } from '../apps/toolMeta.js';
import { showsApps, capabilitiesKey, type Fields } from '../protocol/client.js';
import { errorCodes, type RpcError } from '../protocol/errors.js';
import { metaOf } from '../protocol/requestMeta.js';
import { taskMethods } from '../protocol/tasks.js';
import { modernVersion } from '../protocol/versions.js';
import type { Route } from './access.js';
import type { Conversation, Conversations } from './conversations.js';
import { readsStructureAlone } from './dialect.js';
import { addressConversation, handleConversation, linkOfTask, namedConversation } from './conversationIds.js';
import type { Fallbacks } from './fallbacks.js';
import { handleArgument, handleKey, handleNote, withoutHandle, type Handle, type Handles } from './handles.js';
import { namedBy, namerOf } from './identities.js';
import type { Message } from './jsonRpc.js';
import type { Listing, Listings } from './listings.js';
import type { StatelessTraits } from './statelessRequest.js';

type Request = Extract<Message, { kind: 'request' }>;

/** A request of the modern era with what it says of itself. */
interface Asked {
  readonly route: Route;
  readonly served: ServedToolset;
  readonly message: Request;
  readonly traits: StatelessTraits;
}

export type Attributed =
  /** Nobody's in particular: one instance serves all, or it asks for what is the same in every new conversation. */
  | { readonly kind: 'anybody'; readonly listing: Listing; readonly served: ServedToolset; readonly message: Request }
  | {
      readonly kind: 'conversation';
      readonly conversation: Conversation;
      readonly served: ServedToolset;
      readonly message: Request;
      /** The argument that says whose call it is, where one does. */
      readonly passes?: Fields;
    }
  /** The text tells the model what it has to do. */
  | { readonly kind: 'told'; readonly text: string }
  | { readonly kind: 'refused'; readonly status: number; readonly error: RpcError };

interface AttributionDeps {
  readonly conversations: Conversations;
  readonly listings: Listings;
  readonly handles: Handles;
  readonly fallbacks: Fallbacks;
}

/** The methods that an instance answers. */
export const ofInstances: readonly string[] = [
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
  ...taskMethods,
];

/** Completes the note to a conversation that an earlier run of this program has known. */
const restarted = 'MCP Toolsets was started again';

export class Attribution {
  private readonly withHandles = (served: ServedToolset): ServedToolset =>
    served.isLeased === true ? this.deps.handles.takenBy(served) : served;

  constructor(private readonly deps: AttributionDeps) {}

  of(asked: Asked): Attributed {
    const { route, served, message, traits } = asked;
    if (served.isLeased !== true) return this.anybody(asked, served);
    const said = metaOf(message.params);
    const namer = namerOf(traits.clientInfo);
    const named = namer === undefined ? undefined : namedBy(namer, said);
    if (namer !== undefined && named !== undefined) return this.conversation(asked, namedConversation(namer, named));
    if (route.address !== undefined)
      return this.conversation(
        asked,
        addressConversation(route.address),
        traits.begunElsewhere ? restarted : undefined,
      );
    const isForInstance = ofInstances.includes(message.method) && !isPageOfApp(message, served);
    if (namer !== undefined) return isForInstance ? refused(400, unnamed) : this.anybody(asked, served);
    const handle = this.deps.handles.read(said[handleKey]);
    if (handle) return this.ofHandle(asked, handle);
    if (message.method === 'tools/call') return this.call(asked);
    if (this.deps.fallbacks.refuses(traits.clientInfo)) return refused(400, leased);
    const { taskId, uri = taskId === undefined ? undefined : linkOfTask(asText(taskId)) } = message.params ?? {};
    const linked = isForInstance ? this.deps.conversations.thatWasGiven(route.toolset, uri) : [];
    if (linked.length > 1) return refused(200, unnamed);
    const [conversation] = linked;
    if (conversation) return { kind: 'conversation', conversation, served, message };
    return this.anybody(asked, this.deps.handles.takenBy(served), true);
  }

  /** A call says by a handle among its arguments whose it is, or is told how to. */
  private call(asked: Asked): Attributed {
    const { served, message, traits } = asked;
    const { handles, fallbacks } = this.deps;
    const { name, arguments: given } = message.params ?? {};
    const tool = [...served.tools, ...(served.appTools ?? [])].find((one) => one.name === name);
    const { handle: shown, rest } = tool ? withoutHandle(tool, given) : { handle: undefined, rest: undefined };
    const handle = handles.read(shown);
    if (handle) {
      const params = { ...message.params, arguments: rest };
      const passes = tool && { [handleArgument(tool)]: shown };
      return { ...this.ofHandle({ ...asked, message: { ...message, params } }, handle), ...(passes && { passes }) };
    }
    if (fallbacks.refuses(traits.clientInfo)) return refused(400, leased);
    if (tool && !served.tools.includes(tool)) return refused(200, openedByNobody);
    if (tool) return { kind: 'told', text: handleNote(tool, shown, handles.mint()) };
    const error = {
      code: errorCodes.invalidParams,
      message: `The toolset "${served.id}" has no tool "${asText(name)}".`,
    };
    return refused(200, error);
  }

  private ofHandle(asked: Asked, { id, isOfEarlierRun }: Handle): Attributed {
    return this.conversation(asked, handleConversation(id), isOfEarlierRun ? restarted : undefined);
  }

  private conversation(asked: Asked, conversationId: string, lostBefore?: string): Attributed {
    const { route, served, message, traits } = asked;
    const { toolset, clientKind } = route;
    const audience = { conversation: conversationId, declares: capabilitiesKey(traits.declared) };
    const listing = (): Listing =>
      this.deps.listings.of(toolset, clientKind, modernVersion, { ...readerOf(traits), audience });
    const conversation = this.deps.conversations.of({ toolset, conversationId, lostBefore }, listing);
    if (!conversation) {
      return refused(200, { code: errorCodes.server, message: 'Too many conversations are open.' });
    }
    return { kind: 'conversation', conversation, served, message };
  }

  private anybody(asked: Asked, served: ServedToolset, takesHandles = false): Attributed {
    const { route, message, traits } = asked;
    const { toolset, clientKind } = route;
    const as = takesHandles ? this.withHandles : undefined;
    const listing = this.deps.listings.of(toolset, clientKind, modernVersion, { ...readerOf(traits), as });
    return { kind: 'anybody', listing, served, message };
  }
}

/** The page of an app is the same for all, and says nothing of a conversation (G8). */
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

const leased: RpcError = {
  code: errorCodes.invalidRequest,
  message:
    'Each conversation has its own instance here, and sessions tell conversations apart. Begin a session with `initialize`, in a protocol version before 2026-07-28. If the client speaks no such version, repeat the request.',
};

const howToName = `Give each conversation its own address: the address of the toolset, then /c/ and 22 or more random letters and digits. Or send the handle that a tool was given in \`_meta["${handleKey}"]\`.`;

/** Nothing that an app sends tells it, and what its client sends does not either. */
const openedByNobody: RpcError = {
  code: errorCodes.invalidRequest,
  message: `Each conversation has its own instance here, and nothing says which conversation opened this app. ${howToName}`,
};

const unnamed: RpcError = {
  code: errorCodes.invalidRequest,
  message: `Each conversation has its own instance here, and this request does not say which conversation it belongs to. ${howToName}`,
};
