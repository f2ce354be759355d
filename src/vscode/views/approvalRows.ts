/** What the sidebar shows and offers of approval (S1, E3): part of `treeModel`. Pure. */
import type { ServerStatus } from '../../core/reconcile/status.js';
import { commandLine, launchLines } from './approvalTexts.js';
import { escapeMarkdown } from './markdown.js';
import type { TreeNode } from './treeNode.js';

/** What a person can ask of a server because of its approval. */
export function approvalActions({ approval, previous }: ServerStatus): readonly ('approvable' | 'revocable')[] {
  switch (approval.kind) {
    case 'notAsked':
      return [];
    case 'approved':
      return ['revocable'];
    case 'pending':
      // What serves was approved before.
      return previous ? ['approvable', 'revocable'] : ['approvable'];
  }
}

/** The launch that waits, as a row of its own: what would run is seen before anything is clicked. */
export function launchNodes(parent: string, { id: server, approval, place }: ServerStatus): TreeNode[] {
  if (approval.kind !== 'pending') return [];
  return [
    {
      id: `${parent}/launch`,
      kind: 'launch',
      server,
      label: commandLine(approval.launch),
      description: '',
      spoken: `waits for approval: ${commandLine(approval.launch)}`,
      tooltip: launchLines(approval.launch).map(escapeMarkdown).join('\n\n'),
      icon: { id: 'terminal' },
      context: 'launch',
      initially: 'leaf',
      place,
      children: [],
    },
  ];
}
