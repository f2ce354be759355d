/**
 * Makes the rows of a server's instances: whose they are, how old they are and how long they have been idle (L2).
 * Everything here is pure.
 */
import { code, inert, formatted, markdownList, noMarkdown } from '../../core/base/inert.js';
import type { InstanceStatus, ServerStatus } from '../../core/reconcile/status.js';
import { durationPhrase, instanceLabel, instancePhrase, timeOf } from './phrases.js';
import type { TreeNode } from './treeNode.js';

export function instanceNodes(parent: string, server: ServerStatus, now: number): TreeNode[] {
  return server.instances.map((instance: InstanceStatus) => {
    const { use, startedAt, lastCallAt, pid } = instance;
    const phrase = instancePhrase(use);
    const description = [activity(instance, now), `${durationPhrase(now - startedAt)} old`].join(' · ');
    const lines = [
      formatted`**${phrase}**`,
      use.kind === 'leased'
        ? formatted`conversation ${code(use.dialog)}, since ${timeOf(use.since, now)}; “Release Instance” ends it, and the next call of the conversation starts another`
        : noMarkdown,
      formatted`started ${timeOf(startedAt, now)}${pid === undefined ? '' : `, process ${pid}`}`,
      lastCallAt === undefined ? formatted`not called yet` : formatted`last call ${timeOf(lastCallAt, now)}`,
    ];
    return {
      id: `${parent}/instance/${instance.id}`,
      kind: 'instance',
      server: server.id,
      label: inert`${instanceLabel(use)}`,
      description: inert`${description}`,
      spoken: inert`${phrase}, instance, ${description}`,
      tooltip: markdownList(lines, '\n\n'),
      icon: { id: use.kind === 'leased' ? 'comment-discussion' : 'server-process' },
      context: `instance ${use.kind}`,
      initially: 'leaf',
      ...(use.kind === 'leased' && { dialog: use.dialog }),
      children: [],
    };
  });
}

function activity({ callsInFlight, lastCallAt }: InstanceStatus, now: number): string {
  if (callsInFlight > 0) return callsInFlight === 1 ? '1 call running' : `${callsInFlight} calls running`;
  return lastCallAt === undefined ? 'not called yet' : `idle ${durationPhrase(now - lastCallAt)}`;
}
