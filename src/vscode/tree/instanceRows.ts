/** The instances of a server and whose they are. Pure. */
import type { InstanceStatus, ServerStatus } from '../../core/reconcile/status.js';
import { escapeMarkdown } from '../markdown.js';
import { instancePhrase, timeOf } from '../phrases.js';
import type { TreeNode } from './treeNode.js';

export function instanceNodes(parent: string, server: ServerStatus, now: number): TreeNode[] {
  return server.instances.map((instance: InstanceStatus) => {
    const calls = instance.callsInFlight;
    const facts = [
      instance.pid === undefined ? '' : `process ${instance.pid}`,
      `since ${timeOf(instance.startedAt, now)}`,
      calls === 0 ? '' : calls === 1 ? '1 call running' : `${calls} calls running`,
    ].filter((fact) => fact !== '');
    const lines = [
      `**${escapeMarkdown(instancePhrase(instance.use))}**`,
      ...facts,
      instance.use.kind === 'leased' ? `conversation \`${instance.use.dialog}\`` : '',
      instance.lastCallAt === undefined ? 'not called yet' : `last call ${timeOf(instance.lastCallAt, now)}`,
    ];
    return {
      id: `${parent}/instance/${instance.id}`,
      kind: 'instance',
      server: server.id,
      label: instancePhrase(instance.use),
      description: facts.join(' · '),
      tooltip: lines.filter((line) => line !== '').join('\n\n'),
      icon: { id: instance.use.kind === 'leased' ? 'comment-discussion' : 'server-process' },
      context: `instance ${instance.use.kind}`,
      initially: 'leaf',
      ...(instance.use.kind === 'leased' && { dialog: instance.use.dialog }),
      children: [],
    };
  });
}
