/** Makes the rows of what a server publishes besides its tools: prompts, resources and templates. Pure. */
import type { ServerStatus } from '../../core/reconcile/status.js';
import { escapeMarkdown } from './markdown.js';
import { uniqueIds, type TreeNode } from './treeNode.js';

export function promptNodes(parent: string, { id: server, prompts }: ServerStatus): TreeNode[] {
  return prompts.map(({ original, published, prompt }) => {
    const takes = (prompt.arguments ?? []).map(({ name, required }) => (required ? name : `[${name}]`));
    const lines = [
      `**${escapeMarkdown(published)}** ${escapeMarkdown(prompt.title ?? '')}`.trim(),
      escapeMarkdown(prompt.description ?? ''),
      takes.length === 0 ? 'Takes no arguments.' : `Takes ${takes.map(escapeMarkdown).join(', ')}`,
      original === published ? '' : `The server calls it \`${original}\`.`,
    ];
    const description = original === published ? '' : original;
    return {
      ...leaf(server, lines),
      id: `${parent}/prompt/${published}`,
      kind: 'prompt',
      label: published,
      description,
      spoken: [published, 'prompt', ...(description === '' ? [] : [`originally ${original}`])].join(', '),
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
      `**${escapeMarkdown(label)}**`,
      escapeMarkdown(description ?? ''),
      escapeMarkdown([address, ...(mimeType === undefined ? [] : [mimeType])].join(' · ')),
    ];
    return {
      ...leaf(server, lines),
      id: unique(`${parent}/resource/${address}`),
      kind: 'resource',
      label,
      description: address,
      spoken: `${label}, ${word}, ${address}`,
      icon: { id: icon },
      context: 'resource',
      name: address,
    };
  });
}

function leaf(server: string, lines: string[]): Pick<TreeNode, 'server' | 'tooltip' | 'initially' | 'children'> {
  return { server, tooltip: lines.filter((line) => line !== '').join('\n\n'), initially: 'leaf', children: [] };
}
