/**
 * Makes the rows of what a server publishes besides its tools: prompts, resources and templates. Everything here is
 * pure.
 */
import { code, inert, formatted, markdownList, noMarkdown, type Markdown } from '../../core/base/inert.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { uniqueIds, type TreeNode } from './treeNode.js';

export function promptNodes(parent: string, { id: server, prompts }: ServerStatus): TreeNode[] {
  return prompts.map(({ original, published, prompt }) => {
    const takes = (prompt.arguments ?? []).map(({ name, required }) => (required ? name : `[${name}]`));
    const lines = [
      formatted`**${published}** ${prompt.title ?? ''}`,
      formatted`${prompt.description ?? ''}`,
      takes.length === 0 ? formatted`Takes no arguments.` : formatted`Takes ${takes.join(', ')}`,
      original === published ? noMarkdown : formatted`The server calls it ${code(original)}.`,
    ];
    const description = original === published ? '' : original;
    return {
      ...leaf(server, lines),
      id: `${parent}/prompt/${published}`,
      kind: 'prompt',
      label: inert`${published}`,
      description: inert`${description}`,
      spoken: inert`${[published, 'prompt', ...(description === '' ? [] : [`originally ${original}`])].join(', ')}`,
      icon: { id: 'comment' },
      context: 'prompt',
      name: published,
    };
  });
}

export function resourceNodes(parent: string, { id: server, resources }: ServerStatus): TreeNode[] {
  const unique = uniqueIds();
  const all = [
    ...resources.resources.map((entry) => ({ ...entry, address: entry.uri, word: 'resource', icon: 'file' })),
    ...resources.templates.map((entry) => ({
      ...entry,
      address: entry.uriTemplate,
      word: 'resource template',
      icon: 'symbol-file',
    })),
  ];
  return all.map(({ name, title, description, mimeType, address, word, icon }) => {
    const label = title ?? name;
    const lines = [
      formatted`**${label}**`,
      formatted`${description ?? ''}`,
      formatted`${[address, ...(mimeType === undefined ? [] : [mimeType])].join(' · ')}`,
    ];
    return {
      ...leaf(server, lines),
      id: unique(`${parent}/resource/${address}`),
      kind: 'resource',
      label: inert`${label}`,
      description: inert`${address}`,
      spoken: inert`${label}, ${word}, ${address}`,
      icon: { id: icon },
      context: 'resource',
      name: address,
    };
  });
}

function leaf(server: string, lines: Markdown[]): Pick<TreeNode, 'server' | 'tooltip' | 'initially' | 'children'> {
  return { server, tooltip: markdownList(lines, '\n\n'), initially: 'leaf', children: [] };
}
