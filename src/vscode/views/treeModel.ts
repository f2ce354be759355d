/**
 * What the sidebar shows, computed from the status snapshot alone: a tree of plain values with ids that stay the same
 * as long as the thing does. Pure; does not import `vscode`, does not know how rows are drawn. One file beside this one
 * makes the rows of one kind.
 */
import type { StatusSnapshot } from '../../core/reconcile/status.js';
import { serverNode } from './serverRows.js';
import { uniqueIds, type TreeNode, type TreeOptions } from './treeNode.js';

export function treeModel(snapshot: StatusSnapshot, around: TreeOptions): readonly TreeNode[] {
  const severalFiles = new Set(snapshot.servers.map(({ source }) => source)).size > 1;
  const unique = uniqueIds();
  return snapshot.servers.map((server) =>
    serverNode(unique(`${server.source}#${server.id}`), server, snapshot, around, severalFiles),
  );
}
