/** A row of the sidebar as a plain value. Pure; does not import `vscode`. */
import { isDeepStrictEqual } from 'node:util';
import type { OfferName } from '../../../core/approval/offerPrints.js';
import type { Place } from '../../../core/base/problem.js';
import type { ConversationTitle } from '../../engine/conversationTitles.js';
import { rowTexts, type RowTexts } from '../phrases.js';
import type { ViewIcon } from '../serverStates.js';
import type { ShownRow } from '../trees.js';

type NodeKind =
  | Offered
  | 'server'
  | 'launch'
  | 'problem'
  | 'group'
  | 'instance'
  | 'shadowed'
  | 'builtIn';
type Offered = 'tool' | 'excluded' | 'prompt' | 'instructions' | 'resource';

export interface TreeNode extends ShownRow {
  readonly kind: NodeKind;
  readonly server: string;
  readonly initially: 'leaf' | 'collapsed' | 'expanded';
  readonly place?: Place;
  readonly ticked?: boolean;
  /** The names of a tool. A tool without the second one is not published. */
  readonly original?: string;
  readonly published?: string;
  /** The change since the approval of the server. A person can accept it at this row (S3). */
  readonly changed?: OfferName;
  /** The text for *Copy Name*. */
  readonly name?: string;
  /** The conversation of an instance, and the id of the editor's chat. */
  readonly conversation?: string;
  readonly chat?: string | undefined;
  readonly children: readonly TreeNode[];
}

export interface TreeOptions {
  readonly onlyWithProblems?: boolean;
  readonly severalFiles?: boolean;
  readonly now: number;
  readonly fileLabel: (file: string) => string;
  readonly folderLabel: (file: string) => string;
  readonly titleOf: (conversation: string) => ConversationTitle | undefined;
}

export const warningIcon: ViewIcon = { id: 'warning', color: 'list.warningForeground' };

type Usual = 'context' | 'initially' | 'children';

type RowParts = Omit<TreeNode, keyof RowTexts | 'description' | 'tooltip' | Usual | 'changed'> &
  Partial<Pick<TreeNode, Usual>> &
  RowTexts & { readonly changed?: OfferName | undefined };

/**
 * By default, a row has no rows below it, and its kind is its context. A changed offer looks like a
 * warning.
 */
export function row({ label, words, spoken, lines, changed, ...rest }: RowParts): TreeNode {
  return {
    context: changed ? `${rest.kind} changed` : rest.kind,
    initially: 'leaf',
    children: [],
    ...rest,
    ...rowTexts({ label, words, spoken, lines }),
    ...(changed && { changed, icon: warningIcon }),
  };
}

export function group(
  parent: string,
  server: string,
  label: string,
  key: string,
  children: TreeNode[],
): TreeNode[] {
  const words = [`${children.length}`];
  const icon = { id: groupIcons[key] ?? 'server-process' };
  const texts = { label, words, spoken: [label, ...words], context: `group ${key}` };
  const node = row({
    id: `${parent}/${key}`,
    kind: 'group',
    server,
    ...texts,
    icon,
    initially: 'collapsed',
    children,
  });
  return children.length === 0 ? [] : [node];
}

const groupIcons: Readonly<Record<string, string>> = {
  excluded: 'filter',
  prompts: 'comment',
  resources: 'files',
};

/** Makes ids unique, because the editor refuses a tree with two equal ids. */
export function uniqueIds(): (id: string) => string {
  const seen = new Map<string, number>();
  return (id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count > 1 ? `${id}/${count}` : id;
  };
}

/** Returns the topmost changed rows (E3), or undefined if rows were added, removed or moved. */
export function changedRows(
  before: readonly TreeNode[],
  after: readonly TreeNode[],
): readonly TreeNode[] | undefined {
  if (before.length !== after.length || after.some(({ id }, index) => id !== before[index]?.id))
    return undefined;
  return after.flatMap((node, index) => {
    const earlier = before[index];
    if (!earlier || !isDeepStrictEqual({ ...earlier, children: [] }, { ...node, children: [] }))
      return [node];
    return changedRows(earlier.children, node.children) ?? [node];
  });
}
