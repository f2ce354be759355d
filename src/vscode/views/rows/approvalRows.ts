/** Makes what the sidebar shows of approvals (S1, E3). Everything here is pure. */
import { inert, formatted, markdownList } from '../../../core/base/inert.js';
import type { ServerStatus } from '../../../core/reconcile/status.js';
import { commandLine, launchLines } from '../../../core/approval/approvalTexts.js';
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
      label: inert`${commandLine(approval.launch)}`,
      description: inert``,
      spoken: inert`waits for approval: ${commandLine(approval.launch)}`,
      tooltip: markdownList(
        launchLines(approval.launch).map((line) => formatted`${line}`),
        '\n\n',
      ),
      icon: { id: 'terminal' },
      context: 'launch',
      initially: 'leaf',
      place,
      children: [],
    },
  ];
}
