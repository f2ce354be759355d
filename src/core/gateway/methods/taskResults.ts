/** Gives clients the final result of a task like the result of a call (V1, V2). */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../../base/isObject.js';
import type { ClientKind, Fields } from '../../protocol/client.js';
import { resultOfTask } from '../../protocol/tasks.js';
import type { ArtifactOrigin } from '../../results/artifacts.js';
import { withoutDataUrls } from '../../results/dataUrls.js';
import type { Delivery } from '../../results/delivery.js';

/** The tool of a task with a forgotten origin. */
export const unknownTool = 'task';

/** @param said the server's statement about the task */
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
