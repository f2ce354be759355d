/** Finds where a team file or an agent file names a server, for its new id (E2). Everything here is pure. */
import { EditNodes } from '../yaml/editNodes.js';
import { replaceItem, type TextEdit } from '../yaml/edits.js';
import { readYaml } from '../yaml/yamlTree.js';
import { textOf, type ValueNode } from '../yaml/valueNodes.js';
import { headOf, markIn, referenceOf } from './agentFiles.js';

interface Renaming {
  readonly from: string;
  readonly to: string;
}

/** Returns the edits of the grants of `.minds/team.yaml`: none if it cannot be read. */
export function renamedInTeam(text: string, { from, to }: Renaming): TextEdit[] {
  const nodes = EditNodes.read(text);
  const { root } = readYaml(text);
  const at = (node: ValueNode | undefined, key: string): ValueNode | undefined =>
    node?.kind === 'map' ? node.entries.get(key)?.value : undefined;
  const members = at(root, 'members');
  const holders = members?.kind === 'map' ? [...members.entries.values()].map(({ value }) => value) : [];
  const lists = [at(root, 'member_defaults'), ...holders].map((holder) => at(holder, 'toolsets'));
  // An alias stands for the same list again.
  const found = new Map<number, TextEdit>();
  for (const item of lists.flatMap((list) => (list?.kind === 'list' ? list.items : []))) {
    const [, mark = '', id] = /^(!?)\s*(.*)$/s.exec(textOf(item)?.trim() ?? '') ?? [];
    const edits = nodes && id === from ? replaceItem(nodes, item.span.start, mark + to) : undefined;
    for (const edit of edits ?? []) found.set(edit.span.start, edit);
  }
  return [...found.values()];
}

/** Returns the edits of the `tools` of an agent file and of our mark in it. */
export function renamedInAgent(text: string, { from, to }: Renaming): TextEdit[] {
  const head = headOf(text);
  const root = head && readYaml(head.text).root;
  const tools = root?.kind === 'map' ? root.entries.get('tools')?.value : undefined;
  const mark = markIn(text);
  return [
    ...(head && tools ? words(text, head.start + tools.span.start, head.start + tools.span.end, from) : []).map(
      (span) => ({ span, text: referenceOf(to) }),
    ),
    ...(mark ? words(text, mark.start, mark.end, from) : []).map((span) => ({ span, text: to })),
  ];
}

/** Finds a word in a stretch of a text, where it is not part of a longer name. */
function words(text: string, start: number, end: number, word: string): { start: number; end: number }[] {
  return [...text.slice(start, end).matchAll(/[^\s,'"[\]/]+(?:\/[^\s,'"[\]]*)?/g)]
    .filter(([item]) => item.split('/', 1)[0]?.toLowerCase() === word.toLowerCase())
    .map(({ index }) => ({ start: start + index, end: start + index + word.length }));
}
