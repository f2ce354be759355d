/** Makes the rows of a server's prompts, instructions, resources and templates. Pure. */
import { changePhrase, type ChangedOffer } from '../../../core/approval/offerPrints.js';
import { code, inert, formatted, markdownList, noMarkdown, type Markdown } from '../../../core/base/inert.js';
import type { ServerStatus } from '../../../core/reconcile/status.js';
import { changeLine } from './toolRows.js';
import { uniqueIds, warningIcon, type TreeNode } from './treeNode.js';

export function promptNodes(parent: string, { id: server, prompts, changedOffers }: ServerStatus): TreeNode[] {
  const changes = new Map(changedOffers.flatMap((one) => (one.kind === 'prompt' ? [[one.original, one]] : [])));
  return prompts.map(({ original, published, prompt }) => {
    const changed = changes.get(original);
    const takes = (prompt.arguments ?? []).map(({ name, required }) => (required ? name : `[${name}]`));
    const lines = [
      formatted`**${published}** ${prompt.title ?? ''}`,
      formatted`${prompt.description ?? ''}`,
      takes.length === 0 ? formatted`Takes no arguments.` : formatted`Takes ${takes.join(', ')}`,
      original === published ? noMarkdown : formatted`The server calls it ${code(original)}.`,
      changed ? changeLine(changed) : noMarkdown,
    ];
    const difference = changed ? [changePhrase(changed.parts)] : [];
    const words = [...(original === published ? [] : [original]), ...difference];
    const spoken = [...(original === published ? [] : [`originally ${original}`]), ...difference];
    return {
      ...leaf(server, lines),
      id: `${parent}/prompt/${published}`,
      kind: 'prompt',
      label: inert`${published}`,
      description: inert`${words.join(' · ')}`,
      spoken: inert`${[published, 'prompt', ...spoken].join(', ')}`,
      icon: changed ? warningIcon : { id: 'comment' },
      context: changed ? 'prompt changed' : 'prompt',
      name: published,
      ...(changed && { changed }),
    };
  });
}

/** Makes the rows of changed instructions and of withheld prompts (S3). Other rows do not show these. */
export function changedNodes(parent: string, { id: server, changedOffers }: ServerStatus): TreeNode[] {
  return changedOffers.flatMap((changed: ChangedOffer) => {
    const { kind, original, parts, held } = changed;
    if (kind === 'tool' || (kind === 'prompt' && !held)) return [];
    const label = kind === 'prompt' ? original : 'Instructions';
    const phrase = `${held ? 'held back: ' : ''}${changePhrase(parts)}`;
    return [
      {
        ...leaf(server, [formatted`**${label}**`, changeLine(changed)]),
        id: `${parent}/changed/${kind}/${original}`,
        kind,
        label: inert`${label}`,
        description: inert`${phrase}`,
        spoken: inert`${[label, ...(kind === 'prompt' ? ['prompt'] : []), phrase].join(', ')}`,
        icon: warningIcon,
        context: `${kind} changed`,
        ...(kind === 'prompt' && { name: original }),
        changed,
      },
    ];
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
