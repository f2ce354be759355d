import type { OfferName } from '../../../core/approval/offerPrints.js';
import { asFields, isObject } from '../../../core/base/isObject.js';
import type { TreeNode } from './treeNode.js';

/**
 * A row or the id of a server. Another extension may run a command with any argument, so the rest
 * counts as undefined.
 */
export type Subject = unknown;

const texts = ['server', 'name', 'conversation', 'original', 'published'] as const;

interface SubjectNode extends Partial<Pick<TreeNode, 'kind' | 'ticked' | (typeof texts)[number]>> {
  readonly changed?: Partial<OfferName>;
  /** Where a change is written. Undefined leaves it to the switch of the sidebar. */
  readonly isForMe?: boolean;
}

export type TickedRow = Pick<SubjectNode, 'server' | 'original' | 'ticked' | 'isForMe'>;

export function serverOf(subject: Subject): string | undefined {
  return typeof subject === 'string' ? subject : nodeOf(subject)?.server;
}

export function nodeOf(subject: Subject): SubjectNode | undefined {
  const node = asFields(subject)['node'];
  if (!isObject(node)) return undefined;
  const { kind, ticked, changed, isForMe } = node;
  return {
    ...Object.fromEntries(
      texts.flatMap((key) => (typeof node[key] === 'string' ? [[key, node[key]]] : [])),
    ),
    ...(typeof kind === 'string' && { kind: kind as TreeNode['kind'] }),
    ...(typeof ticked === 'boolean' && { ticked }),
    ...(typeof isForMe === 'boolean' && { isForMe }),
    ...(isObject(changed) && { changed }),
  };
}

export function nodesOf(subject: Subject, selected: unknown): SubjectNode[] {
  return (Array.isArray(selected) ? selected : [subject]).flatMap((one) => nodeOf(one) ?? []);
}
