/** Cases of edits, each with LF and with CRLF, and random files of servers to edit. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EditNodes } from '../../../src/core/yaml/editNodes.js';
import { applyEdits, type Edits } from '../../../src/core/yaml/edits.js';
import { plain } from './plain.js';

type Edit = (text: string, nodes: EditNodes, at: number) => Edits;

/** `|` marks the beginning of the node. Undefined: no edit is offered. */
export function check(
  name: string,
  edit: Edit,
  cases: readonly (readonly [string, string | undefined])[],
): void {
  describe(name, () => {
    for (const [marked, expected] of cases) {
      for (const [style, lineBreak] of [
        ['', '\n'],
        [' with CRLF', '\r\n'],
      ] as const) {
        it(`${JSON.stringify(marked)}${style}`, () => {
          const source = marked.replaceAll('\n', lineBreak);
          const at = source.indexOf('|');
          const text = source.replace('|', '');
          const nodes = EditNodes.read(text);
          assert.ok(nodes, 'the text is YAML');
          const edits = edit(text, nodes, at);
          assert.equal(edits && applyEdits(text, edits), expected?.replaceAll('\n', lineBreak));
          if (edits) assert.ok(EditNodes.read(applyEdits(text, edits)), 'the result is YAML');
        });
      }
    }
  });
}

const name = fc.constantFrom('a', 'b', 'c', 'd');
const scalar = fc.constantFrom('x', "'y z'", '"q"', '12', 'true');
const server = fc.record({
  style: fc.constantFrom('block', 'flow', 'flowLines', 'json'),
  keys: fc.uniqueArray(
    fc.tuple(fc.constantFrom('command', 'cwd', 'enabled', 'url', 'sessionId'), scalar),
    {
      selector: ([key]) => key,
      minLength: 1,
    },
  ),
  list: fc.array(scalar, { maxLength: 4 }),
  comments: fc.boolean(),
});
type Server = { style: string; keys: [string, string][]; list: string[]; comments: boolean };

function render(id: string, { style, keys, list, comments }: Server): string {
  const note = comments ? ' # note' : '';
  const line = comments ? '    # line\n' : '';
  const entries = keys.map(([key, value]) => [key, key === 'enabled' ? 'true' : value]);
  const flowList = `[${list.join(', ')}]`;
  switch (style) {
    case 'flow':
      return `  ${id}: { ${[...entries, ['args', flowList]].map((entry) => entry.join(': ')).join(', ')} }${note}\n`;
    case 'flowLines':
      return `  ${id}: {${note}\n${entries.map((entry) => `    ${entry.join(': ')},${note}\n`).join(line)}    args: ${flowList}${note}\n  }\n`;
    case 'json': {
      const json = (value: string): string => (/^\w+$/.test(value) && value !== '12' && value !== 'true' ? `"${value}"` : value);
      return `  "${id}": {${entries.map(([key, value]) => `"${key}": ${json(value ?? '')}`).join(', ')}, "args": [${list.map(json).join(',')}]}${note}\n`;
    }
    default: {
      const items = list.length === 0 ? ' []\n' : `${note}\n${list.map((item) => `      - ${item}${note}\n`).join(line)}`;
      return `  ${id}:${note}\n${line}${entries.map((entry) => `    ${entry.join(': ')}${note}\n`).join(line)}    args:${items}`;
    }
  }
} // oxfmt-ignore

export const file = fc.record({
  servers: fc.uniqueArray(fc.tuple(name, server), { selector: ([id]) => id, minLength: 1 }),
  crlf: fc.boolean(),
  endless: fc.boolean(),
});

export function textOf({ servers, crlf, endless }: { servers: [string, Server][]; crlf: boolean; endless: boolean }): string {
  const text = `# head\nservers:\n${servers.map(([id, body]) => render(id, body)).join('\n')}# tail\n`;
  return (endless ? text.replace(/\n# tail\n$/, '') : text).replaceAll('\n', crlf ? '\r\n' : '\n');
} // oxfmt-ignore

type Model = Record<string, Record<string, unknown>>;
export const modelOf = (text: string): Model => (plain(text) as { servers: Model }).servers;

/**
 * Everything outside the edits is there still; comments are never part of one, but for those on a
 * removed line.
 */
export function assertMinimal(text: string, edits: Edits, most: number): string {
  assert.ok(edits, 'is offered');
  for (const { span } of edits) assert.ok(span.end - span.start <= most, JSON.stringify(text.slice(span.start, span.end)));
  return applyEdits(text, edits);
} // oxfmt-ignore
