/** A row of the sidebar as a plain value, and what makes its id its own. Pure; does not import `vscode`. */
import type { Place } from '../../core/base/problem.js';

export interface TreeIcon {
  /** Of the editor's icon font. */
  readonly id: string;
  /** Of the theme. */
  readonly color?: string;
}

export interface TreeNode {
  readonly id: string;
  readonly kind:
    'server' | 'launch' | 'problem' | 'tool' | 'group' | 'excluded' | 'prompt' | 'resource' | 'instance' | 'shadowed';
  /** The id of the server it belongs to. */
  readonly server: string;
  readonly label: string;
  readonly description: string;
  /** For a screen reader, instead of label and description: what the icon says is in it. */
  readonly spoken?: string;
  /** Markdown; what comes from servers is escaped. */
  readonly tooltip: string;
  readonly icon: TreeIcon;
  /** Words that menus look for, separated by spaces. */
  readonly context: string;
  readonly initially: 'leaf' | 'collapsed' | 'expanded';
  /** Opened by a click. */
  readonly place?: Place;
  /** Of a tool: its name as the server gives it. */
  readonly original?: string;
  /** What “copy name” copies. */
  readonly name?: string;
  /** Of an instance that belongs to one. */
  readonly dialog?: string;
  readonly children: readonly TreeNode[];
}

export interface TreeOptions {
  readonly now: number;
  /** How a file is written for a person, e.g. relative to its workspace folder. */
  readonly fileLabel: (file: string) => string;
  /** What tells the files of several workspace folders apart, in a word. */
  readonly folderLabel: (file: string) => string;
}

export const pendingIcon: TreeIcon = { id: 'shield', color: 'list.warningForeground' };

export const warningIcon: TreeIcon = { id: 'warning', color: 'list.warningForeground' };

export function group(parent: string, server: string, label: string, key: string, children: TreeNode[]): TreeNode[] {
  if (children.length === 0) return [];
  return [
    {
      id: `${parent}/${key}`,
      kind: 'group',
      server,
      label,
      description: String(children.length),
      spoken: `${label}, ${children.length}`,
      tooltip: '',
      icon: { id: groupIcons[key] ?? 'server-process' },
      context: `group ${key}`,
      initially: 'collapsed',
      children,
    },
  ];
}

const groupIcons: Readonly<Record<string, string>> = { excluded: 'filter', prompts: 'comment', resources: 'files' };

/** The editor refuses a tree in which two rows have one id. */
export function uniqueIds(): (id: string) => string {
  const seen = new Map<string, number>();
  return (id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count > 1 ? `${id}/${count}` : id;
  };
}
