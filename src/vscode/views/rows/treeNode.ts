/** Describes a row of the sidebar as a plain value, and makes ids unique. It is pure and does not import `vscode`. */
import { inert, noMarkdown, type Inert, type Markdown } from '../../../core/base/inert.js';
import type { OfferName } from '../../../core/approval/offerPrints.js';
import type { Place } from '../../../core/base/problem.js';
import type { ConversationTitle } from '../../engine/conversationTitles.js';

export interface TreeIcon {
  /** The name of an icon in the editor's icon font. */
  readonly id: string;
  /** The id of a theme color. */
  readonly color?: string;
}

export interface TreeNode {
  readonly id: string;
  readonly kind:
    | 'server'
    | 'launch'
    | 'problem'
    | 'tool'
    | 'group'
    | 'excluded'
    | 'prompt'
    | 'instructions'
    | 'resource'
    | 'instance'
    | 'shadowed'
    | 'builtIn';
  /** The id of the server that the row belongs to. */
  readonly server: string;
  readonly label: Inert;
  readonly description: Inert;
  /** What a screen reader says instead of label and description. It includes what the icon shows. */
  readonly spoken?: Inert;
  readonly tooltip: Markdown;
  readonly icon: TreeIcon;
  /** Words that menus look for, separated by spaces. */
  readonly context: string;
  readonly initially: 'leaf' | 'collapsed' | 'expanded';
  /** The place that a click opens. */
  readonly place?: Place;
  /** The state of its tick box, if it has one. */
  readonly ticked?: boolean;
  /** The names of a tool; only the original one if it is not published. */
  readonly original?: string;
  readonly published?: string;
  /** What can be accepted here, because it changed or came since the server was approved (S3). */
  readonly changed?: OfferName;
  /** What *Copy Name* copies. */
  readonly name?: string;
  /** The conversation that an instance belongs to, and the chat of the editor that it is. */
  readonly conversation?: string;
  readonly chat?: string | undefined;
  readonly children: readonly TreeNode[];
}

export interface TreeOptions {
  readonly now: number;
  /** Returns a file in the form that is shown to a person, e.g. relative to its workspace folder. */
  readonly fileLabel: (file: string) => string;
  /** Returns a word that tells the files of several workspace folders apart. */
  readonly folderLabel: (file: string) => string;
  /** Returns the title or the first words of a conversation, if they are known. */
  readonly titleOf: (conversation: string) => ConversationTitle | undefined;
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
      label: inert`${label}`,
      description: inert`${children.length}`,
      spoken: inert`${label}, ${children.length}`,
      tooltip: noMarkdown,
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
