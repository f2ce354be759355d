/** Makes the rows of a server's tools: the published ones, and the others with the reason. Pure. */
import { changePhrase, type ChangedOffer } from '../../../core/approval/offerPrints.js';
import { code, inert, formatted, markdownList, noMarkdown, type Markdown } from '../../../core/base/inert.js';
import { clipped } from '../../../core/base/text.js';
import type { ServerStatus } from '../../../core/reconcile/status.js';
import type { ExcludedTool, OfferedTool, ServedTool } from '../../../core/tools/catalogue.js';
import { editorRefusalPhrase, exclusionPhrase, exclusionRemedy } from '../../../core/tools/exclusion.js';
import { isValidName } from '../../../core/tools/names.js';
import { estimatedTokens } from '../../../core/tools/tokens.js';
import { effects, overrideText, tokenPhrase } from '../phrases.js';
import { uniqueIds, warningIcon, type TreeNode } from './treeNode.js';

/** Makes the rows of all tools with a tick box, in the server's order (N2). */
export function toolNodes(parent: string, server: ServerStatus): TreeNode[] {
  const changed = changedTools(server);
  const places = new Map(server.listed.map((name, index) => [name, index]));
  const placeOf = ({ original = '' }: TreeNode): number => places.get(original) ?? places.size;
  const published = server.tools.map((tool) => {
    const node = toolNode(parent, server.id, tool, changed.get(tool.original));
    return server.origin === 'mcprc' ? node : { ...node, ticked: true, context: `${node.context} ticked` };
  });
  const unticked = server.excluded.filter(hasTick).map((tool) => {
    const node = excludedNode(parent, server.id, tool);
    return { ...node, id: `${parent}/tool/${tool.original}`, ticked: false, context: `${node.context} unticked` };
  });
  return [...published, ...unticked].sort((one, other) => placeOf(one) - placeOf(other));
}

export function toolNode(parent: string, server: string, tool: ServedTool, changed?: ChangedOffer): TreeNode {
  const { original, published } = tool;
  const { annotations, title = annotations?.title, description = '' } = tool.tool;
  const refusal = editorRefusalPhrase(tool);
  const lines = [
    title ? formatted`**${published}** ${title}` : formatted`**${published}**`,
    formatted`${description}`,
    argumentLine(tool.tool),
    original === published ? noMarkdown : formatted`The server calls it ${code(original)}.`,
    refusal === undefined
      ? formatted`In this editor: ${code(tool.editorId)}`
      : formatted`Not in this editor: ${refusal}`,
    tool.override ? overrideText(tool) : noMarkdown,
    changed ? changeLine(changed) : noMarkdown,
    formatted`${[...effects(tool.tool), tokenPhrase(estimatedTokens(tool))].join(' · ')}`,
  ];
  const facts = [
    ...(changed ? [changePhrase(changed.parts)] : []),
    ...(refusal === undefined ? [] : ['not in the editor']),
    ...(tool.isAsked ? ['asks before calls'] : []),
    ...(tool.override ? ['overridden'] : []),
  ];
  const about = clipped(description.split('\n', 1)[0] ?? '', longestAbout);
  const spoken = [...(original === published ? [] : [`originally ${original}`]), ...facts];
  return {
    id: `${parent}/tool/${original}`,
    kind: 'tool',
    server,
    label: inert`${published}`,
    description: inert`${[...facts, ...(about === '' ? [] : [about])].join(' · ')}`,
    spoken: inert`${[published, 'tool', ...spoken].join(', ')}`,
    tooltip: markdownList(lines, '\n\n'),
    icon: changed ? warningIcon : { id: 'tools' },
    context: changed ? 'tool changed' : 'tool',
    initially: 'leaf',
    name: published,
    original,
    published,
    ...(changed && { changed }),
    children: [],
  };
}

/** The most visible characters of a row. */
const longestAbout = 200;

/** Says how an offer has changed since the approval of its server. */
export function changeLine({ parts }: ChangedOffer): Markdown {
  return parts.includes('new')
    ? formatted`New since you let its server start.`
    : formatted`Its ${parts.join(' and ')} changed since you let its server start.`;
}

function argumentLine({ inputSchema }: OfferedTool): Markdown {
  const required = new Set(inputSchema.required ?? []);
  const names = Object.keys(inputSchema.properties ?? {});
  if (names.length === 0) return formatted`Takes no arguments.`;
  const listed = names.map((name) => (required.has(name) ? name : `[${name}]`));
  return formatted`Takes ${listed.join(', ')}`;
}

/** Makes the rows of the tools without a tick box. */
export function excludedNodes(parent: string, server: ServerStatus): TreeNode[] {
  const unique = uniqueIds();
  const changed = changedTools(server);
  return server.excluded
    .filter((tool) => !hasTick(tool))
    .map((tool) => {
      const change = tool.reason.kind === 'changed' ? changed.get(tool.original) : undefined;
      const node = excludedNode(parent, server.id, tool);
      return { ...node, id: unique(node.id), ...(change && { changed: change }) };
    });
}

export function excludedNode(parent: string, server: string, { original, reason }: ExcludedTool): TreeNode {
  const phrase = exclusionPhrase(reason);
  return {
    id: `${parent}/excluded/${original}`,
    kind: 'excluded',
    server,
    label: inert`${original}`,
    description: inert`${phrase}`,
    spoken: inert`${original}, kept out: ${phrase}`,
    tooltip: formatted`**${original}** ${phrase}\n\n*${exclusionRemedy(reason)}*`,
    icon: { id: 'circle-slash' },
    context: `excluded ${reason.kind}`,
    initially: 'leaf',
    name: original,
    original,
    ...(reason.kind === 'denied' && { published: reason.published }),
    children: [],
  };
}

/** True if a list keeps the tool out. A tick can publish it. */
function hasTick({ original, reason }: ExcludedTool): boolean {
  return (reason.kind === 'blacklist' || reason.kind === 'whitelist') && isValidName(original);
}

function changedTools({ changedOffers }: ServerStatus): Map<string, ChangedOffer> {
  return new Map(changedOffers.flatMap((one) => (one.kind === 'tool' ? [[one.original, one]] : [])));
}
