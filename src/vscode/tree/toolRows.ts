/** The tools of a server: those agents see, and those kept out with the reason. Pure. */
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { ExcludedTool, ServedTool } from '../../core/tools/catalogue.js';
import { escapeMarkdown } from '../markdown.js';
import { exclusionPhrase } from '../phrases.js';
import { uniqueIds, type TreeNode } from './treeNode.js';

export function toolNode(parent: string, server: string, tool: ServedTool): TreeNode {
  const { original, published } = tool;
  const title = tool.tool.annotations?.title ?? tool.tool.title;
  const lines = [
    `**${escapeMarkdown(published)}**${title ? ` ${escapeMarkdown(title)}` : ''}`,
    escapeMarkdown(tool.tool.description ?? ''),
    original === published ? '' : `The server calls it \`${original}\`.`,
    `In this editor: \`${tool.editorId}\``,
  ];
  return {
    id: `${parent}/tool/${published}`,
    kind: 'tool',
    server,
    label: published,
    description: original === published ? '' : original,
    tooltip: lines.filter((line) => line !== '').join('\n\n'),
    icon: { id: 'tools' },
    context: 'tool',
    initially: 'leaf',
    name: published,
    children: [],
  };
}

export function excludedNodes(parent: string, server: ServerStatus): TreeNode[] {
  const unique = uniqueIds();
  return server.excluded.map(({ original, reason }: ExcludedTool) => ({
    id: unique(`${parent}/excluded/${original}`),
    kind: 'excluded',
    server: server.id,
    label: original,
    description: exclusionPhrase(reason),
    tooltip: `**${escapeMarkdown(original)}** ${escapeMarkdown(exclusionPhrase(reason))}`,
    icon: { id: 'circle-slash', color: 'disabledForeground' },
    context: 'excluded',
    initially: 'leaf',
    name: original,
    children: [],
  }));
}
