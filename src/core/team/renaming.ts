/**
 * Finds the mentions of a server in a team file or an agent file, for its new id (E2). Everything
 * here is pure.
 */
import { EditNodes } from '../yaml/editNodes.js';
import { replaceItem, type TextEdit } from '../yaml/edits.js';
import { readYaml } from '../yaml/yamlTree.js';
import { textOf, valueIn } from '../yaml/valueNodes.js';
import { headOf, memberOf, referenceOf } from './agentFiles.js';

type Renaming = { readonly from: string; readonly to: string };

/** Returns the edits of the grants of `.minds/team.yaml`: none if it cannot be read. */
export function renamedInTeam(text: string, { from, to }: Renaming): TextEdit[] {
  const nodes = EditNodes.read(text);
  const { root } = readYaml(text);
  const members = valueIn(root, 'members');
  const holders =
    members?.kind === 'map' ? [...members.entries.values()].map(({ value }) => value) : [];
  const lists = [valueIn(root, 'member_defaults'), ...holders].map((holder) =>
    valueIn(holder, 'toolsets'),
  );
  // An alias repeats the same list.
  const found = new Map<number, TextEdit>();
  for (const item of lists.flatMap((list) => (list?.kind === 'list' ? list.items : []))) {
    const [, mark = '', id] = /^(!?)\s*(.*)$/s.exec(textOf(item)?.trim() ?? '') ?? [];
    const edits = nodes && id === from ? replaceItem(nodes, item.span.start, mark + to) : undefined;
    for (const edit of edits ?? []) found.set(edit.span.start, edit);
  }
  return [...found.values()];
}

/**
 * Returns the edits of the `tools` of an agent file. A file of ours needs none, because it follows
 * the team.
 */
export function renamedInAgent(text: string, { from, to }: Renaming): TextEdit[] {
  const head = memberOf(text) === undefined ? headOf(text) : undefined;
  const tools = valueIn(head && readYaml(head.text).root, 'tools');
  if (!head || !tools) return [];
  const { start, end } = tools.span;
  const name = from.toLowerCase();
  return [...head.text.slice(start, end).matchAll(/[^\s,'"[\]/]+(?:\/[^\s,'"[\]]*)?/g)]
    .filter(([item]) => item.split('/', 1)[0]?.toLowerCase() === name)
    .map(({ index }) => {
      const at = head.start + start + index;
      return { span: { start: at, end: at + from.length }, text: referenceOf(to) };
    });
}
