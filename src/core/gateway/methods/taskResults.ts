/** Gives clients the result with which a task ended as they are given any other (V1, V2). */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../../base/isObject.js';
import type { ClientKind, Fields } from '../../protocol/client.js';
import { resultOfTask } from '../../protocol/tasks.js';
import type { ArtifactOrigin } from '../../results/artifacts.js';
import { withoutDataUrls } from '../../results/dataUrls.js';
import type { Delivery } from '../../results/delivery.js';

/** Stands for the tool of a task of which it is not known any more. */
export const unknownTool = 'task';

/** @param said what the server says of the task */
export async function deliveredTask(
  said: Fields,
  {
    delivery,
    clientKind,
    ...origin
  }: ArtifactOrigin & { readonly delivery: Delivery; readonly clientKind: ClientKind },
): Promise<Fields> {
  const result = resultOfTask(said);
  if (!Array.isArray(result?.['content']) || !result['content'].every(isObject)) return said;
  const plain = withoutDataUrls(result as CallToolResult);
  return { ...said, result: await delivery[clientKind === 'plain' ? 'forOthers' : 'forEditor'](plain, origin) };
}
