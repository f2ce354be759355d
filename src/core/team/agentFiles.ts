/**
 * Custom agents of members (D2), a file each. We change only the grants in it, and never a file
 * without our mark.
 */
import { isDeepStrictEqual } from 'node:util';
import { asText } from '../base/text.js';
import { EditNodes, isScalar, isSeq, spanOf } from '../yaml/editNodes.js';
import { appendItem, applyEdits, insertion, removeItem, valueEdit } from '../yaml/edits.js';
import { readYaml } from '../yaml/yamlTree.js';
import { isEmpty, textOf, valueIn, type MapEntry, type ValueNode } from '../yaml/valueNodes.js';
import type { Member } from './team.js';

export interface AgentOfMember extends Omit<Member, 'grants' | 'place'> {
  /** The granted toolsets, up or not. */
  readonly toolsets: readonly string[];
}

/** VS Code 1.139 finds agent files in this folder of a workspace folder. */
export const agentFolder = '.github/agents';

export function agentFileName(member: string): string {
  return `${member}.agent.md`;
}

/**
 * No match reaches over the beginning of another, so a file full of beginnings takes one pass (S2).
 */
const marks = /<!-- MCP Toolsets: member (\S+); toolsets:([^<>]*?) -->/;

export function memberOf(text: string): string | undefined {
  return marks.exec(text)?.[1];
}

export function headOf(
  text: string,
): { readonly text: string; readonly start: number } | undefined {
  const head = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!head) return undefined;
  const [whole, front = ''] = head;
  return { text: front, start: whole.indexOf(front, 3) };
}

export function newAgentFile(agent: AgentOfMember): string {
  const { id, name, purpose } = agent;
  return `---
name: ${id}
description: ${quoted(purpose ?? `${name}, a member of the team in .minds/team.yaml`)}
tools: ${listOf(entriesOf(agent.toolsets))}
---
${markOf(agent)}
<!-- In \`tools\`, the toolsets follow .minds/team.yaml. Other tools, and everything else here, are yours to change. -->
You are ${name}, a member of the team that works in this workspace.${purpose === undefined ? '' : ` You are there for: ${purpose}`}
`;
}

/**
 * Returns the same file with the present grants, or undefined if it is not ours or its head cannot
 * be read.
 */
export function withGrants(text: string, agent: AgentOfMember): string | undefined {
  const mark = marks.exec(text);
  const head = headOf(text);
  if (!mark || !head) return undefined;
  const before = (mark[2] ?? '').split(',').map((id) => id.trim());
  const { text: front, start } = head;
  const changed = withTools(front, before, agent.toolsets);
  if (changed === undefined) return undefined;
  const above = text.slice(0, start);
  const below = text.slice(start + front.length);
  const whole = above + changed + below;
  return whole.replace(marks, () => markOf(agent));
}

/** The number of items with separate edits, because the file is read again for each. */
const mostEdited = 50;

function withTools(
  front: string,
  before: readonly string[],
  now: readonly string[],
): string | undefined {
  const { root, errors } = readYaml(front);
  if (errors.length > 0 || root.kind !== 'map') return undefined;
  const entry = root.entries.get('tools');
  const items = toolsOf(entry?.value);
  const granted = entriesOf(now);
  const ours = new Set([...before, ...now].map(referenceOf));
  // `playwright/*` and `playwright/browser_click` are of `playwright`.
  const isGone = (item: string): boolean =>
    ours.has(item.split('/')[0] ?? item) && !granted.includes(item);
  const missing = granted.filter((tool) => !items.includes(tool));
  // Without a change, the layout stays. Without a value, the key would grant every tool.
  if (entry && !isEmpty(entry.value) && missing.length === 0 && !items.some(isGone)) return front;
  const wanted = [...items.filter((item) => !isGone(item)), ...missing];
  if (!entry) return `${front}\ntools: ${listOf(wanted)}`;
  const isRight = (text: string | undefined): boolean =>
    text !== undefined && hasTools(text, wanted);
  const isFew = items.filter(isGone).length + missing.length <= mostEdited;
  const edited =
    entry.value.kind === 'list' && isFew ? withItems(front, isGone, missing) : undefined;
  return [edited, rewritten(front, entry, wanted)].find(isRight);
}

function toolsOf(node: ValueNode | undefined): string[] {
  const texts = node?.kind === 'list' ? node.items.map(textOf) : textOf(node)?.split(',');
  return (texts ?? []).flatMap((text) => text?.trim() || []);
}

function hasTools(front: string, wanted: readonly string[]): boolean {
  const { root, errors } = readYaml(front);
  return errors.length === 0 && isDeepStrictEqual(toolsOf(valueIn(root, 'tools')), wanted);
}

/** Adds and removes items one by one, so the layout and the comments of the others stay. */
function withItems(
  front: string,
  isGone: (item: string) => boolean,
  missing: readonly string[],
): string | undefined {
  const before = EditNodes.read(front);
  const list = before?.pairOf(before.root, 'tools')?.pair.value;
  const added =
    missing.length === 0 ? [] : before && appendItem(before, list, ...missing.map(quoted));
  if (!added) return undefined;
  let text = applyEdits(front, added);
  for (;;) {
    const nodes = EditNodes.read(text);
    const pair = nodes?.pairOf(nodes.root, 'tools')?.pair;
    if (!nodes || !pair || !isSeq(pair.value)) return undefined;
    const { flow, items } = pair.value;
    const item = items.find((one) => isScalar(one) && isGone(asText(one.value).trim()));
    if (item === undefined) return text;
    const removed = removeItem(nodes, spanOf(item)?.start ?? 0);
    if (!removed) return undefined;
    // In block style, a list without items would be no value.
    const emptied = flow || items.length > 1 ? [] : [insertion(nodes.afterColon(pair), ' []')];
    text = applyEdits(text, [...emptied, ...removed]);
  }
}

function rewritten(front: string, { keySpan, value }: MapEntry, wanted: readonly string[]): string {
  const nodes = EditNodes.read(front);
  const written = nodes?.pairOf(nodes.root, 'tools');
  const edits = nodes && written && valueEdit(nodes, written, listOf(wanted));
  if (edits) return applyEdits(front, edits);
  const key = front.slice(0, keySpan.end);
  const rest = front.slice(Math.max(value.span.end, keySpan.end));
  return `${key}: ${listOf(wanted)}${rest}`;
}

export function referenceOf(toolset: string): string {
  return toolset.toLowerCase();
}

function entriesOf(toolsets: readonly string[]): string[] {
  return toolsets.map((id) => `${referenceOf(id)}/*`);
}

function markOf({ id, toolsets }: AgentOfMember): string {
  return `<!-- MCP Toolsets: member ${id}; toolsets: ${toolsets.join(', ')} -->`;
}

function listOf(items: readonly string[]): string {
  return `[${items.map(quoted).join(', ')}]`;
}

function quoted(text: string): string {
  return `'${text.replace(/\s+/g, ' ').replaceAll("'", "''")}'`;
}
