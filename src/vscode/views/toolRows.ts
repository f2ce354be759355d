/** Makes the rows of a server's tools: those that agents see, and those that are kept out, with the reason. Pure. */
import type { ChangedTool } from '../../core/approval/toolPrints.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { ExcludedTool, OfferedTool, ServedTool } from '../../core/tools/catalogue.js';
import { editorRefusalPhrase, exclusionPhrase, exclusionRemedy } from '../../core/tools/exclusion.js';
import { estimatedTokens } from '../../core/tools/tokens.js';
import { escapeMarkdown } from './markdown.js';
import { effects, tokenPhrase } from './phrases.js';
import { uniqueIds, type TreeNode } from './treeNode.js';

/** @param changed How the tool differs from what it was when its server was approved (S3). */
export function toolNode(parent: string, server: string, tool: ServedTool, changed?: ChangedTool): TreeNode {
  const { original, published } = tool;
  const title = tool.tool.annotations?.title ?? tool.tool.title;
  const refusal = editorRefusalPhrase(tool);
  const lines = [
    `**${escapeMarkdown(published)}**${title ? ` ${escapeMarkdown(title)}` : ''}`,
    escapeMarkdown(tool.tool.description ?? ''),
    argumentLine(tool.tool),
    original === published ? '' : `The server calls it \`${original}\`.`,
    refusal === undefined ? `In this editor: \`${tool.editorId}\`` : `Not in this editor: ${escapeMarkdown(refusal)}`,
    changed ? `Its ${changed.parts.join(' and ')} changed since you let its server start.` : '',
    [...effects(tool.tool), tokenPhrase(estimatedTokens(tool))].join(' · '),
  ];
  const difference = [
    ...(changed ? [`${changed.parts.join(' and ')} changed`] : []),
    ...(refusal === undefined ? [] : ['not in the editor']),
  ];
  const words = [...(original === published ? [] : [original]), ...difference];
  const spoken = [...(original === published ? [] : [`originally ${original}`]), ...difference];
  return {
    id: `${parent}/tool/${published}`,
    kind: 'tool',
    server,
    label: published,
    description: words.join(' · '),
    spoken: [published, 'tool', ...spoken].join(', '),
    tooltip: lines.filter((line) => line !== '').join('\n\n'),
    icon: changed ? { id: 'warning', color: 'list.warningForeground' } : { id: 'tools' },
    context: changed ? 'tool changed' : 'tool',
    initially: 'leaf',
    name: published,
    original,
    children: [],
  };
}

/** Lists the arguments of a tool. Those that may be left out are in brackets. */
function argumentLine({ inputSchema }: OfferedTool): string {
  const required = new Set(inputSchema.required ?? []);
  const names = Object.keys(inputSchema.properties ?? {});
  if (names.length === 0) return 'Takes no arguments.';
  const listed = names.map((name) => escapeMarkdown(required.has(name) ? name : `[${name}]`));
  return `Takes ${listed.join(', ')}`;
}

export function excludedNodes(parent: string, server: ServerStatus): TreeNode[] {
  const unique = uniqueIds();
  return server.excluded.map(({ original, reason }: ExcludedTool) => {
    const phrase = exclusionPhrase(reason);
    return {
      id: unique(`${parent}/excluded/${original}`),
      kind: 'excluded',
      server: server.id,
      label: original,
      description: phrase,
      spoken: `${original}, kept out: ${phrase}`,
      tooltip: `**${escapeMarkdown(original)}** ${escapeMarkdown(phrase)}\n\n*${escapeMarkdown(exclusionRemedy(reason))}*`,
      icon: { id: 'circle-slash', color: 'disabledForeground' },
      context: reason.kind === 'changed' ? 'excluded changed' : 'excluded',
      initially: 'leaf',
      name: original,
      original,
      children: [],
    };
  });
}
