/**
 * Computes the rows of the sidebar from the status snapshot alone. They are plain values whose ids stay the same as
 * long as what they show exists. Each kind of row has a file beside this one. It is pure, does not import `vscode` and
 * does not know how rows are drawn.
 */
import type { Problem } from '../../../core/base/problem.js';
import type { StatusSnapshot } from '../../../core/reconcile/status.js';
import { builtInNode, serverNode } from './serverRows.js';
import { uniqueIds, type TreeNode, type TreeOptions } from './treeNode.js';

export function treeModel(snapshot: StatusSnapshot, options: TreeOptions): readonly TreeNode[] {
  const severalFiles = new Set(snapshot.servers.map(({ source }) => source)).size > 1;
  const unique = uniqueIds();
  const problems = new Map<string | undefined, Problem[]>();
  for (const problem of snapshot.problems) {
    const known = problems.get(problem.server);
    if (known) known.push(problem);
    else problems.set(problem.server, [problem]);
  }
  const servers = snapshot.servers.map((server) =>
    serverNode(unique(`${server.source}#${server.id}`), server, problems.get(server.id) ?? [], options, severalFiles),
  );
  return snapshot.builtIn ? [...servers, builtInNode(snapshot.builtIn)] : servers;
}

/** Returns whether the rows become others as time goes by, because they say how old something is. */
export function showsAges({ servers }: StatusSnapshot): boolean {
  return servers.some(({ instances, rememberedAt }) => instances.length > 0 || rememberedAt !== undefined);
}
