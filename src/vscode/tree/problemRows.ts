/** The errors and warnings of a server, first below it. Pure. */
import type { ServerStatus, StatusSnapshot } from '../../core/reconcile/status.js';
import { escapeMarkdown } from '../markdown.js';
import { uniqueIds, warningIcon, type TreeNode } from './treeNode.js';

export function problemNodes(parent: string, server: ServerStatus, snapshot: StatusSnapshot): TreeNode[] {
  const unique = uniqueIds();
  return snapshot.problems
    .filter((problem) => problem.server === server.id && problem.place.file === server.source)
    .filter(({ severity }) => severity !== 'information')
    .map((problem) => ({
      id: unique(`${parent}/problem/${problem.code}:${problem.place.range.start.line}`),
      kind: 'problem',
      server: server.id,
      label: problem.message,
      description: '',
      spoken: `${problem.severity}: ${problem.message}`,
      tooltip: `${escapeMarkdown(problem.message)}\n\n*${escapeMarkdown(problem.fix)}*`,
      icon: problem.severity === 'error' ? { id: 'error', color: 'list.errorForeground' } : warningIcon,
      context: 'problem',
      initially: 'leaf',
      place: problem.place,
      children: [],
    }));
}
