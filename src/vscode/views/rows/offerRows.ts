/** Makes the rows of a server's offer: tools, also those left out with the reason, prompts, instructions and resources. Pure. */
import { changePhrase, type ChangedOffer } from '../../../core/approval/offerPrints.js';
import { code, formatted, type Markdown } from '../../../core/base/inert.js';
import { clipped, firstLine } from '../../../core/base/text.js';
import type { ServerStatus } from '../../../core/reconcile/status.js';
import type { ExcludedTool, ServedTool } from '../../../core/tools/catalogue.js';
import { editorRefusalPhrase, exclusionPhrase, exclusionRemedy } from '../../../core/tools/exclusion.js';
import { isValidName } from '../../../core/tools/names.js';
import { estimatedTokens } from '../../../core/tools/tokens.js';
import { effects, overrideText, present, tokenPhrase } from '../phrases.js';
import { row, uniqueIds, type TreeNode } from './treeNode.js';

/** The most visible characters of a row. */
const longestAbout = 200;

/** Makes the rows of all tools with a tick box, in the server's order (N2). */
export function toolNodes(parent: string, server: ServerStatus): TreeNode[] {
  const changed = changesOf(server, 'tool');
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
  const { annotations, title = annotations?.title ?? '', description = '', inputSchema } = tool.tool;
  const refusal = editorRefusalPhrase(tool);
  const required = new Set(inputSchema.required ?? []);
  const takes = Object.keys(inputSchema.properties ?? {}).map((name) => ({ name, required: required.has(name) }));
  const facts = [
    changed && changePhrase(changed.parts),
    refusal !== undefined && 'not in the editor',
    tool.isAsked && 'asks before calls',
    tool.override && 'overridden',
  ];
  const about = clipped(firstLine(description), longestAbout);
  return row({
    id: `${parent}/tool/${original}`,
    kind: 'tool',
    server,
    label: published,
    words: [...facts, about !== '' && about],
    spoken: [published, 'tool', original !== published && `originally ${original}`, ...facts],
    lines: [
      formatted`**${published}** ${title}`,
      formatted`${description}`,
      argumentLine(takes),
      originLine(original, published),
      refusal === undefined
        ? formatted`In this editor: ${code(tool.editorId)}`
        : formatted`Not in this editor: ${refusal}`,
      tool.override && overrideText(tool),
      changeLine(changed),
      formatted`${[...effects(tool.tool), tokenPhrase(estimatedTokens(tool))].join(' · ')}`,
    ],
    icon: { id: 'tools' },
    name: published,
    original,
    published,
    changed,
  });
}

/** Makes the rows of the tools without a tick box. */
export function excludedNodes(parent: string, server: ServerStatus): TreeNode[] {
  const unique = uniqueIds();
  const changes = changesOf(server, 'tool');
  const excluded = server.excluded.filter((tool) => !hasTick(tool));
  return excluded.map((tool) => {
    const changed = tool.reason.kind === 'changed' ? changes.get(tool.original) : undefined;
    const node = excludedNode(parent, server.id, tool);
    return { ...node, id: unique(node.id), ...(changed && { changed }) };
  });
}

export function excludedNode(parent: string, server: string, { original, reason }: ExcludedTool): TreeNode {
  const phrase = exclusionPhrase(reason);
  return row({
    id: `${parent}/excluded/${original}`,
    kind: 'excluded',
    server,
    label: original,
    words: [phrase],
    spoken: [original, `kept out: ${phrase}`],
    lines: [formatted`**${original}** ${phrase}`, formatted`*${exclusionRemedy(reason)}*`],
    icon: { id: 'circle-slash' },
    context: `excluded ${reason.kind}`,
    name: original,
    original,
    ...(reason.kind === 'denied' && { published: reason.published }),
  });
}

/** True if a list keeps the tool out. A tick can publish it. */
function hasTick({ original, reason }: ExcludedTool): boolean {
  return (reason.kind === 'blacklist' || reason.kind === 'whitelist') && isValidName(original);
}

export function promptNodes(parent: string, server: ServerStatus): TreeNode[] {
  const changes = changesOf(server, 'prompt');
  return server.prompts.map(({ original, published, prompt }) => {
    const changed = changes.get(original);
    const difference = changed && changePhrase(changed.parts);
    const isRenamed = original !== published;
    return row({
      id: `${parent}/prompt/${published}`,
      kind: 'prompt',
      server: server.id,
      label: published,
      words: [isRenamed && original, difference],
      spoken: [published, 'prompt', isRenamed && `originally ${original}`, difference],
      lines: [
        formatted`**${published}** ${prompt.title ?? ''}`,
        formatted`${prompt.description ?? ''}`,
        argumentLine(prompt.arguments ?? []),
        originLine(original, published),
        changeLine(changed),
      ],
      icon: { id: 'comment' },
      name: published,
      changed,
    });
  });
}

/** Makes the rows of changed instructions and of withheld prompts (S3). Other rows do not show these. */
export function changedNodes(parent: string, { id: server, changedOffers }: ServerStatus): TreeNode[] {
  return changedOffers.flatMap((changed) => {
    const { kind, original, parts, held } = changed;
    if (kind === 'tool' || (kind === 'prompt' && !held)) return [];
    const isPrompt = kind === 'prompt';
    const label = isPrompt ? original : 'Instructions';
    const phrase = `${held ? 'held back: ' : ''}${changePhrase(parts)}`;
    return row({
      id: `${parent}/changed/${kind}/${original}`,
      kind,
      server,
      label,
      words: [phrase],
      spoken: [label, isPrompt && 'prompt', phrase],
      lines: [formatted`**${label}**`, changeLine(changed)],
      icon: { id: 'comment' },
      ...(isPrompt && { name: original }),
      changed,
    });
  });
}

export function resourceNodes(parent: string, { id: server, resources }: ServerStatus): TreeNode[] {
  const unique = uniqueIds();
  const all = [
    ...resources.resources.map((one) => ({ ...one, address: one.uri, word: 'resource', icon: 'file' })),
    ...resources.templates.map((one) => ({
      ...one,
      address: one.uriTemplate,
      word: 'resource template',
      icon: 'symbol-file',
    })),
  ];
  return all.map(({ name, title, description = '', mimeType, address, word, icon }) => {
    const label = title ?? name;
    return row({
      id: unique(`${parent}/resource/${address}`),
      kind: 'resource',
      server,
      label,
      words: [address],
      spoken: [label, word, address],
      lines: [
        formatted`**${label}**`,
        formatted`${description}`,
        formatted`${present([address, mimeType]).join(' · ')}`,
      ],
      icon: { id: icon },
      name: address,
    });
  });
}

function changesOf({ changedOffers }: ServerStatus, kind: ChangedOffer['kind']): Map<string, ChangedOffer> {
  return new Map(changedOffers.flatMap((one) => (one.kind === kind ? [[one.original, one]] : [])));
}

function changeLine(changed: ChangedOffer | undefined): Markdown | undefined {
  if (!changed) return undefined;
  return changed.parts.includes('new')
    ? formatted`New since you let its server start.`
    : formatted`Its ${changed.parts.join(' and ')} changed since you let its server start.`;
}

function originLine(original: string, published: string): Markdown | false {
  return original !== published && formatted`The server calls it ${code(original)}.`;
}

function argumentLine(takes: readonly { readonly name: string; readonly required?: boolean | undefined }[]): Markdown {
  if (takes.length === 0) return formatted`Takes no arguments.`;
  return formatted`Takes ${takes.map(({ name, required }) => (required ? name : `[${name}]`)).join(', ')}`;
}
