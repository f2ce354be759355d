/** Finds the rows that have to be redrawn, so that the others keep still (E3). Everything here is pure. */
import { isDeepStrictEqual } from 'node:util';
import type { TreeNode } from './treeNode.js';

/**
 * Returns the topmost rows that changed; redrawing a row redraws everything below it. Returns undefined if there are other
 * rows or another order, so that their parent has to be redrawn.
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
