/** Makes the rows of a server's instances: conversation, age and idle time (L2). Pure. */
import { assertNever } from '../../../core/base/assertNever.js';
import { code, inert, formatted, markdownList, noMarkdown } from '../../../core/base/inert.js';
import type { InstanceStatus, ServerStatus } from '../../../core/reconcile/status.js';
import { conversationLabel } from '../../../core/protocol/conversationLabel.js';
import { isTrial } from '../../engine/trialConversation.js';
import { durationPhrase, instancePhrase, timeOf } from '../phrases.js';
import type { TreeNode, TreeOptions } from './treeNode.js';

export function instanceNodes(parent: string, server: ServerStatus, { now, titleOf }: TreeOptions): TreeNode[] {
  return server.instances.map((instance: InstanceStatus) => {
    const { use, startedAt, lastCallAt, lastTool, pid, folder } = instance;
    const phrase = instancePhrase(use);
    const conversation = use.kind === 'leased' ? use.conversation : undefined;
    const { text: title, chat } = (conversation === undefined ? undefined : titleOf(conversation)) ?? {};
    const called = conversation === undefined || lastTool === undefined ? [] : [lastTool];
    const label = instanceLabel(instance, title, now);
    const description = [
      ...(title === undefined ? [] : called),
      activity(instance, now),
      `${durationPhrase(now - startedAt)} old`,
    ].join(' · ');
    const lines = [
      title === undefined ? formatted`**${phrase}**` : formatted`**${title}**`,
      use.kind === 'leased'
        ? formatted`conversation ${code(use.conversation)}, since ${timeOf(use.since, now)}; “Release Instance” ends it, and the next call of the conversation starts another`
        : noMarkdown,
      formatted`started ${timeOf(startedAt, now)}${pid === undefined ? '' : `, process ${pid}`}`,
      folder === undefined ? noMarkdown : formatted`works in ${code(folder)}`,
      lastCallAt === undefined
        ? formatted`not called yet`
        : formatted`last call ${called.join('')} ${timeOf(lastCallAt, now)}`,
    ];
    return {
      id: `${parent}/instance/${instance.id}`,
      kind: 'instance',
      server: server.id,
      label: inert`${label}`,
      description: inert`${description}`,
      spoken: inert`${title ?? phrase}, instance, ${description}`,
      tooltip: markdownList(lines, '\n\n'),
      icon: { id: use.kind === 'leased' ? 'comment-discussion' : 'server-process' },
      context: `instance ${use.kind}`,
      initially: 'leaf',
      ...(conversation !== undefined && { conversation, chat }),
      children: [],
    };
  });
}

/** The label of a conversation without a title is its last tool. */
function instanceLabel({ use, lastTool, lastCallAt }: InstanceStatus, title: string | undefined, now: number): string {
  switch (use.kind) {
    case 'warm':
      return 'ready';
    case 'draining':
      return 'ending';
    case 'spare':
    case 'shared':
      return use.kind;
    case 'leased':
      if (isTrial(use.conversation)) return 'Try Tool';
      if (title !== undefined) return title;
      return lastTool === undefined || lastCallAt === undefined
        ? conversationLabel(use.conversation)
        : `${lastTool}, ${timeOf(lastCallAt, now)}`;
    default:
      return assertNever(use);
  }
}

function activity({ callsInFlight, lastCallAt }: InstanceStatus, now: number): string {
  if (callsInFlight > 0) return callsInFlight === 1 ? '1 call running' : `${callsInFlight} calls running`;
  return lastCallAt === undefined ? 'not called yet' : `idle ${durationPhrase(now - lastCallAt)}`;
}
