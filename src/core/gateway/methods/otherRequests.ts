/** Every request to an instance but a tool call. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { withScript } from '../../apps/editorApps.js';
import { isObject } from '../../base/isObject.js';
import { inTurns, LoopShare } from '../../base/turns.js';
import type { Fields } from '../../protocol/client.js';
import type { ClientPolicy } from '../../protocol/clientPolicy.js';
import { errorCodes } from '../../protocol/errors.js';
import type { OtherOutcome } from '../../protocol/request.js';
import { metaOf, resultOfTask, taskMethods } from '../../protocol/versions.js';
import type { ArtifactOrigin } from '../../results/artifacts.js';
import { withReadableBytes } from '../../results/binaries.js';
import type { Delivery } from '../../results/delivery.js';
import { conversationOf } from '../conversations/conversationIds.js';
import { otherResult } from '../dialect.js';
import type { Origin } from './appCalls.js';
import { withPagesOpened } from './pages.js';
import {
  forward,
  withoutCarriage,
  written,
  type Answer,
  type ForwardTerms,
  type RequestContext,
} from './requests.js';

export const emptyCompletion = { completion: { values: [] } };

export const unknownTool = 'task';

export function forwardOther(
  method: string,
  { asked, ofApp }: Origin,
  context: RequestContext,
): Answer {
  const { client, deps } = context;
  const { listing, traits } = client;
  const { inputResponses, uri } = asked;
  // Answers to a task's questions are its parameters.
  const params = {
    ...withoutCarriage(asked),
    ...(method === 'tasks/update' && { inputResponses }),
  };
  const isNamed = deps.namesConversations && conversationOf(metaOf(asked)) !== undefined;
  const isPage = !isNamed && listing.hasApp(uri);
  const held = ofApp ? 'held' : undefined;
  // The page of an app is the same on every instance, so reading it starts none.
  const instance = isPage ? 'any' : held;

  const send = async (terms: ForwardTerms): Promise<OtherOutcome> => {
    const isOfLink = terms.toolset !== listing.toolset;
    const outcome = await deps.backend.request({
      ...terms,
      method,
      params,
      instance,
      isOfLink,
    });
    // Under 2024-11-05 no server declares completions, so only this error shows their absence.
    const lacks = outcome.kind === 'error' && outcome.code === errorCodes.methodNotFound;
    return lacks && method === 'completion/complete'
      ? { kind: 'result', result: emptyCompletion }
      : outcome;
  };

  return forward(asked, context, {
    what: method,
    cancelled: 'The request was cancelled.',
    destination: ofApp,
    link: uri,
    carryOut: async (terms) => {
      const outcome = await withPagesOpened(() => send(terms), terms, context);
      if (outcome.kind !== 'result') return outcome;
      const { result, tool = unknownTool, toolset: server = listing.toolset } = outcome;
      const { conversation, policy } = terms;
      let own = result;
      if (taskMethods.includes(method))
        own = await deliveredTask(result, deps.delivery, policy, { server, tool, conversation });
      else if (isPage && policy.apps === 'ofEditor') own = withScript(result);
      const isForOne = listing.served?.isLeased === true;
      return written(client, result, otherResult(traits.version, own, isForOne));
    },
  });
}

export async function deliveredTask(
  said: Fields,
  delivery: Delivery,
  { results }: ClientPolicy,
  origin: ArtifactOrigin,
): Promise<Fields> {
  const result = resultOfTask(said);
  if (!Array.isArray(result?.['content']) || !result['content'].every(isObject)) return said;
  const plain = await inTurns(withReadableBytes(result as CallToolResult), LoopShare.of(said));
  return {
    ...said,
    result: await delivery[results](plain, origin),
  };
}
