/** Makes what the sidebar shows of approvals (S1, E3). Pure. */
import type { ServerStatus } from '../../core/reconcile/status.js';
import { commandLine, launchLines } from './approvalTexts.js';
import { escapeMarkdown } from './markdown.js';
import type { TreeNode } from './treeNode.js';

/** Returns what a person can do about the approval of a server. */
export function approvalActions({ approval, previous }: ServerStatus): readonly ('approvable' | 'revocable')[] {
  switch (approval.kind) {
    case 'notAsked':
      return [];
    case 'approved':
      return ['revocable'];
    case 'pending':
      // The definition that serves was approved before.
      return previous ? ['approvable', 'revocable'] : ['approvable'];
  }
}

/** Makes a row of the launch that waits, so that a person sees what would run before clicking anything. */
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
