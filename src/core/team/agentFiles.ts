/**
 * Members of the team as custom agents of the editor (D2): a file for each, whose `tools` names the granted toolsets as
 * the editor does. Only what stands for grants is ours: other tools, the description and the text are the person's, who
 * may change them. Everything here is pure.
 *
 * Invariants: what is written again without a change of grants is the same text; a file that does not bear our mark is
 * never changed; `tools` never names a toolset of ours that is not granted.
 */
import { readYaml } from '../yaml/yamlTree.js';
import { textOf } from '../yaml/valueNodes.js';

export interface AgentOfMember {
  readonly id: string;
  readonly name: string;
  readonly purpose: string | undefined;
  /** The toolsets that are granted, whether they are up or not. */
  readonly toolsets: readonly string[];
}

/** VS Code 1.139 finds agent files in this folder of a workspace folder. */
export const agentFolder = '.github/agents';

export function agentFileName(member: string): string {
  return `${member}.agent.md`;
}

const marks = /<!-- MCP Toolsets: member (\S+); toolsets:([^>]*?) -->/;

/** Returns the member whose file it is, or undefined if the file is not one of ours. */
export function memberOf(text: string): string | undefined {
  return marks.exec(text)?.[1];
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

/** Returns the same file with the present grants, or undefined if it is not ours or its head cannot be read. */
export function withGrants(text: string, agent: AgentOfMember): string | undefined {
  const mark = marks.exec(text);
  const head = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!mark || !head) return undefined;
  const before = (mark[2] ?? '').split(',').map((id) => id.trim());
  const front = head[1] ?? '';
  const start = head[0].indexOf(front, 3);
  const changed = withTools(front, before, agent.toolsets);
  if (changed === undefined) return undefined;
  return (text.slice(0, start) + changed + text.slice(start + front.length)).replace(marks, () => markOf(agent));
}

function withTools(front: string, before: readonly string[], now: readonly string[]): string | undefined {
  const { root, errors } = readYaml(front);
  if (errors.length > 0 || root.kind !== 'map') return undefined;
  const entry = root.entries.get('tools');
  const written = entry?.value.kind === 'list' ? entry.value.items : entry ? [entry.value] : [];
  const items = written.map((item) => textOf(item) ?? '');
  const ours = new Set([...before, ...now].map(referenceOf));
  const others = items.filter((item) => item !== '' && !ours.has(setOf(item)));
  const tools = listOf([...others, ...entriesOf(now)]);
  if (!entry) return `${front}\ntools: ${tools}`;
  const end = Math.max(entry.value.span.end, entry.keySpan.end);
  const same = items.length === others.length + now.length && entriesOf(now).every((one) => items.includes(one));
  // Where nothing changed, it stays as a person laid it out.
  if (same) return front;
  // Without a value, the colon stands after the end of the key.
  const rest = front.slice(end).replace(/^[ \t]*:/, '');
  return `${front.slice(0, entry.keySpan.end)}: ${tools}${rest}`;
}

/** The set that a tool of an agent file belongs to: `playwright/*` and `playwright/browser_click` to `playwright`. */
function setOf(item: string): string {
  return item.split('/')[0] ?? item;
}

/** Spells a toolset as the editor does where tools are referred to. */
function referenceOf(toolset: string): string {
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
