/**
 * Makes the rows of a server's tools: those that agents see, and those that are kept out, with the reason. Everything
 * here is pure.
 */
import { changePhrase, type ChangedOffer } from '../../core/approval/offerPrints.js';
import { code, inert, formatted, markdownList, noMarkdown, type Markdown } from '../../core/base/inert.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { ExcludedTool, OfferedTool, ServedTool } from '../../core/tools/catalogue.js';
import { editorRefusalPhrase, exclusionPhrase, exclusionRemedy } from '../../core/tools/exclusion.js';
import { estimatedTokens } from '../../core/tools/tokens.js';
import { effects, tokenPhrase } from './phrases.js';
import { uniqueIds, type TreeNode } from './treeNode.js';

/** @param changed How the tool differs from what it was when its server was approved (S3). */
export function toolNode(parent: string, server: string, tool: ServedTool, changed?: ChangedOffer): TreeNode {
  const { original, published } = tool;
  const title = tool.tool.annotations?.title ?? tool.tool.title;
  const refusal = editorRefusalPhrase(tool);
  const lines = [
    title ? formatted`**${published}** ${title}` : formatted`**${published}**`,
    formatted`${tool.tool.description ?? ''}`,
    argumentLine(tool.tool),
    original === published ? noMarkdown : formatted`The server calls it ${code(original)}.`,
    refusal === undefined
      ? formatted`In this editor: ${code(tool.editorId)}`
      : formatted`Not in this editor: ${refusal}`,
    changed ? changeLine(changed) : noMarkdown,
    formatted`${[...effects(tool.tool), tokenPhrase(estimatedTokens(tool))].join(' · ')}`,
  ];
  const difference = [
    ...(changed ? [changePhrase(changed.parts)] : []),
    ...(refusal === undefined ? [] : ['not in the editor']),
  ];
  const words = [...(original === published ? [] : [original]), ...difference];
  const spoken = [...(original === published ? [] : [`originally ${original}`]), ...difference];
  return {
    id: `${parent}/tool/${published}`,
    kind: 'tool',
    server,
    label: inert`${published}`,
    description: inert`${words.join(' · ')}`,
    spoken: inert`${[published, 'tool', ...spoken].join(', ')}`,
    tooltip: markdownList(lines, '\n\n'),
    icon: changed ? { id: 'warning', color: 'list.warningForeground' } : { id: 'tools' },
    context: changed ? 'tool changed' : 'tool',
    initially: 'leaf',
    name: published,
    original,
    ...(changed && { changed }),
    children: [],
  };
}

/** Says how an offer differs from what it was when its server was approved. */
export function changeLine({ parts }: ChangedOffer): Markdown {
  return parts.includes('new')
    ? formatted`New since you let its server start.`
    : formatted`Its ${parts.join(' and ')} changed since you let its server start.`;
}

/** Lists the arguments of a tool. Those that may be left out are in brackets. */
function argumentLine({ inputSchema }: OfferedTool): Markdown {
  const required = new Set(inputSchema.required ?? []);
  const names = Object.keys(inputSchema.properties ?? {});
  if (names.length === 0) return formatted`Takes no arguments.`;
  const listed = names.map((name) => (required.has(name) ? name : `[${name}]`));
  return formatted`Takes ${listed.join(', ')}`;
}

export function excludedNodes(parent: string, server: ServerStatus): TreeNode[] {
  const unique = uniqueIds();
  const changed = new Map(server.changedOffers.flatMap((one) => (one.kind === 'tool' ? [[one.original, one]] : [])));
  return server.excluded.map(({ original, reason }: ExcludedTool) => {
    const phrase = exclusionPhrase(reason);
    const change = reason.kind === 'changed' ? changed.get(original) : undefined;
    return {
      id: unique(`${parent}/excluded/${original}`),
      kind: 'excluded',
      server: server.id,
      label: inert`${original}`,
      description: inert`${phrase}`,
      spoken: inert`${original}, kept out: ${phrase}`,
      tooltip: formatted`**${original}** ${phrase}\n\n*${exclusionRemedy(reason)}*`,
      icon: { id: 'circle-slash', color: 'disabledForeground' },
      context: reason.kind === 'changed' ? 'excluded changed' : 'excluded',
      initially: 'leaf',
      name: original,
      original,
      ...(change && { changed: change }),
      children: [],
    };
  });
}
