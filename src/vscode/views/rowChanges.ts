/** Which rows have to be drawn anew: what did not change keeps still (E3). Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { TreeNode } from './treeNode.js';

/**
 * The topmost rows that changed; drawing one draws what is below it. Undefined: other rows, or another order, so that
 * what contains them has to be drawn anew.
 */
export function changedRows(before: readonly TreeNode[], after: readonly TreeNode[]): readonly TreeNode[] | undefined {
  if (before.length !== after.length || after.some(({ id }, index) => id !== before[index]?.id)) return undefined;
  return after.flatMap((node, index) => {
    const earlier = before[index];
    if (!earlier || !sameRow(earlier, node)) return [node];
    return changedRows(earlier.children, node.children) ?? [node];
  });
}

function sameRow({ children: _, ...one }: TreeNode, { children: __, ...other }: TreeNode): boolean {
  return isDeepStrictEqual(one, other);
}
