/** A row of the sidebar as a plain value. Pure; does not import `vscode`. */
import { isDeepStrictEqual } from 'node:util';
import type { OfferName } from '../../../core/approval/offerPrints.js';
import type { Place } from '../../../core/base/problem.js';
import type { ToolsetUse } from '../../../core/calls/counts.js';
import type { ServerStatus } from '../../../core/reconcile/status.js';
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
  /** By default, rows below it are folded. */
  readonly isUnfolded?: boolean;
  readonly place?: Place;
  readonly ticked?: boolean;
  /** The names of a tool. A tool without the second one is not published. */
  readonly original?: string;
  readonly published?: string | undefined;
  /** The change since the approval of the server. A person can accept it at this row (S3). */
  readonly changed?: OfferName | undefined;
  /** The text for *Copy Name*. */
  readonly name?: string | undefined;
  /** The conversation of an instance, and the id of the editor's chat. */
  readonly conversation?: string | undefined;
  readonly chat?: string | undefined;
  readonly children: readonly TreeNode[];
}

export interface TreeOptions {
  readonly onlyWithProblems?: boolean;
  readonly severalFiles?: boolean;
  /** True if ticks go into the layer (C7). */
  readonly changesForMe?: boolean;
  readonly now: number;
  readonly fileLabel: (file: string) => string;
  readonly folderLabel: (file: string) => string;
  /** True if a setting names the tool and allows it. */
  readonly isAllowed: (tool: string) => boolean;
  readonly titleOf: (conversation: string) => ConversationTitle | undefined;
  readonly useOf?: ((server: ServerStatus) => ToolsetUse | undefined) | undefined;
}

export const warningIcon: ViewIcon = { id: 'warning', color: 'list.warningForeground' };

/** The parts of a row without a default. */
type RowParts = RowTexts &
  Pick<TreeNode, 'id' | 'kind' | 'server' | 'icon'> &
  Partial<Omit<TreeNode, keyof ShownRow>> & { readonly context?: string };

/**
 * By default, the kind of a row is its context. A changed offer looks like a warning.
 */
export function row({ label, words, spoken, lines, ...rest }: RowParts): TreeNode {
  const { kind, changed, children = [] } = rest;
  return {
    context: changed ? `${kind} changed` : kind,
    children,
    ...rest,
    ...rowTexts({ label, words, spoken, lines }),
    icon: changed ? warningIcon : rest.icon,
  };
}

/** The row of a server, for the rows below it. */
export type Parent = Pick<TreeNode, 'id' | 'server'>;

export function rowBelow(
  { id, server }: Parent,
  key: string,
  parts: Omit<RowParts, 'id' | 'server'>,
): TreeNode {
  return row({
    id: `${id}/${key}`,
    server,
    ...parts,
  });
}

export function group(
  parent: Parent,
  key: string,
  label: string,
  icon: string,
  children: readonly TreeNode[],
): TreeNode[] {
  if (children.length === 0) return [];
  const words = [`${children.length}`];
  const node = rowBelow(parent, key, {
    kind: 'group',
    label,
    words,
    spoken: [label, ...words],
    icon: { id: icon },
    context: `group ${key}`,
    children,
  });
  return [node];
}

/** Makes ids unique, because the editor refuses a tree with two equal ids. */
export function uniqueIds(): (id: string) => string {
  const seen = new Map<string, number>();
  return (id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count > 1 ? `${id}/${count}` : id;
  };
}

/** Returns the known rows that are no longer folded by default, each for the first time only. */
export function unfoldedRows(
  before: readonly TreeNode[],
  after: readonly TreeNode[],
  earlier: Set<string>,
): readonly TreeNode[] {
  const opened = after.filter(({ id, isUnfolded }) => isUnfolded && !earlier.has(id));
  for (const { id } of opened) earlier.add(id);
  return opened.filter(({ id }) => before.some((row) => row.id === id));
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
