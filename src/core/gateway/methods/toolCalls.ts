/**
 * A tool call and the readers of its result (V1, G8).
 *
 * | reader         | for                                          | gets                                   |
 * | -------------- | -------------------------------------------- | -------------------------------------- |
 * | `app`          | an app of the editor that calls              | the result as the server gave it       |
 * | `program`      | an agent outside the editor, and             | the result as the server gave it, and  |
 * |                | an agent host that shows an app itself       | notes                                  |
 * | `model`        | the models of the editor and its agent hosts | a readable result, and notes           |
 * | `modelWithApp` | a chat of the editor that opens an app       | the same, and the app's part in `_meta` |
 *
 * Each of them reads the result in its own protocol version. Files are saved for all of them.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Fields } from '../../protocol/client.js';
import type { ToolOutcome } from '../../protocol/request.js';
import { taskIn } from '../../protocol/versions.js';
import type { ArtifactOrigin } from '../../results/artifacts.js';
import { withNotes } from '../../results/forEditor.js';
import { toolResult } from '../dialect.js';
import type { Client } from '../conversations/client.js';
import type { Origin } from './appCalls.js';
import { withPagesOpened } from './pages.js';
import {
  forward,
  written,
  type Answer,
  type ForwardTerms,
  type RequestContext,
} from './requests.js';

type Reader = 'app' | 'program' | 'model' | 'modelWithApp';

export function callTool({ asked, ofApp }: Origin, context: RequestContext): Answer {
  const { client, deps } = context;
  const { listing, conversation: asking, traits } = client;
  const { name, arguments: given } = asked as { name: string; arguments?: Fields };
  const isByApp = ofApp !== undefined;
  const app = isByApp ? undefined : listing.apps.get(name);

  const send = (terms: ForwardTerms): Promise<ToolOutcome> => {
    const { toolset, conversation, policy, meta, signal, onProgress, client } = terms;
    // The editor may read the page during the call.
    if (app !== undefined) asking?.links.set(app, { toolset: listing.toolset, conversation });
    // Written out, because a copy by `...` gets another layout in V8, and every reader pays for
    // that (P3).
    return deps.backend.callTool({
      toolset,
      conversation,
      policy,
      tool: name,
      arguments: given,
      meta,
      signal,
      onProgress,
      client,
      instance: isByApp ? 'held' : undefined,
      fromApp: isByApp ? true : undefined,
      isPromised: !isByApp && asking?.promised.has(name) ? true : undefined,
    });
  };

  return forward(asked, context, {
    what: name,
    cancelled: 'The call was cancelled.',
    destination: ofApp,
    carryOut: async (terms) => {
      const outcome = await withPagesOpened(() => send(terms), terms, context);
      if (outcome.kind !== 'result') return outcome;
      const { result, toolset = listing.toolset, publishedName = name, notes, record } = outcome;
      // A task has no result yet.
      if (taskIn(result) !== undefined) return written(client, result, result);
      const { conversation } = terms;
      const reader = isByApp ? 'app' : readerOf(terms, name, app !== undefined, client);
      if (reader !== 'app') asking?.links.add(result, { toolset, conversation });
      const origin = {
        server: toolset,
        tool: publishedName,
        conversation,
      };
      const own = toolResult(traits.version, await deliveredTo(reader, result, origin, context));
      if (reader === 'app') return written(client, result, own);
      // A note does not replace the tool's own text.
      const hidesText = reader !== 'program' || traits.readsStructureAlone;
      const sent = notes ? withNotes(own, notes, hidesText) : own;
      const json = written(client, result, sent);
      record?.onWritten(sent, json);
      return json;
    },
  });
}

function readerOf(
  { policy, conversation }: ForwardTerms,
  name: string,
  opens: boolean,
  { listing, conversation: asking }: Client,
): Exclude<Reader, 'app'> {
  if (policy.results === 'asGiven') return 'program';
  // An agent host shows the result in the app itself, and its models read text beside structure.
  if (policy.apps === 'ofClient')
    return opens || listing.isForAppsAlone(name) ? 'program' : 'model';
  return opens && conversation !== asking?.id ? 'modelWithApp' : 'model';
}

function deliveredTo(
  reader: Reader,
  result: CallToolResult,
  origin: ArtifactOrigin,
  { client, deps: { delivery, openings } }: RequestContext,
): Promise<CallToolResult> {
  switch (reader) {
    case 'app':
    case 'program':
      return delivery.asGiven(result, origin);
    case 'model':
      return delivery.readable(result, origin);
    case 'modelWithApp': {
      const { toolset } = client.listing;
      const token = openings.open({ toolset, conversation: origin.conversation });
      return delivery.readableWithApp(result, origin, token);
    }
  }
}
