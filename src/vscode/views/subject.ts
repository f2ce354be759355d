/** Reads what a command was called with: a row of the sidebar or the id of a server. Pure; does not import `vscode`. */
import type { OfferName } from '../../core/approval/offerPrints.js';
import { isObject } from '../../core/base/isObject.js';
import type { TreeNode } from './treeNode.js';

/**
 * A row or the id of a server; undefined if the command comes from the palette. Another extension may run a command with
 * anything, so nothing of it is believed: what is neither counts as undefined.
 */
export type Subject = unknown;

interface SubjectNode extends Partial<Pick<TreeNode, 'server' | 'name' | 'dialog'>> {
  readonly changed?: Partial<OfferName>;
}

export function serverOf(subject: Subject): string | undefined {
  return typeof subject === 'string' ? subject : nodeOf(subject)?.server;
}

/** Returns what is known of the row that the command was called at, if it was. */
export function nodeOf(subject: Subject): SubjectNode | undefined {
  const node = isObject(subject) ? subject['node'] : undefined;
  if (!isObject(node)) return undefined;
  const { server, name, dialog, changed } = node;
  return {
    ...(typeof server === 'string' && { server }),
    ...(typeof name === 'string' && { name }),
    ...(typeof dialog === 'string' && { dialog }),
    ...(isObject(changed) && { changed }),
  };
}
