/** What the sidebar says of where a server comes from, and of the entries that it shadows (spec C5): part of `treeModel`. Pure. */
import type { ServerStatus } from '../../core/reconcile/status.js';
import { escapeMarkdown } from '../markdown.js';
import type { TreeNode, TreeSurroundings } from './treeNode.js';

/** Of the row: nothing where all servers come from one file of a folder. */
export function sourceWords(server: ServerStatus, around: TreeSurroundings, severalFiles: boolean): string[] {
  switch (server.origin) {
    case 'folder':
      return severalFiles ? [around.folderLabel(server.source)] : [];
    case 'mcprc':
      return [around.fileLabel(server.source)];
    case 'user':
      return ['user'];
  }
}

export function shadowedNodes(parent: string, server: ServerStatus, around: TreeSurroundings): TreeNode[] {
  return server.shadows.map((place) => {
    const file = around.fileLabel(place.file);
    return {
      id: `${parent}/shadowed/${place.file}`,
      kind: 'shadowed',
      server: server.id,
      label: `also in ${file}`,
      description: 'shadowed',
      spoken: `shadowed entry in ${file}`,
      tooltip: escapeMarkdown(
        `${file} has an entry ${server.id} too. It does not count: ${around.fileLabel(server.source)} does.`,
      ),
      icon: { id: 'layers' },
      context: 'shadowed',
      initially: 'leaf',
      place,
      children: [],
    };
  });
}
