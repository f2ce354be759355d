import assert from 'node:assert/strict';
import { applyEdits } from '../../../../src/core/yaml/edits.js';
import { blacklistTool } from '../../../../src/core/config/edit/serverEdits.js';

const head = 'version: 1\nservers:\n  a:\n    transport: stdio # how\n    command: npx\n';

function after(text: string, tool = 'odd tool'): string | undefined {
  const edits = blacklistTool(text, 'a', tool);
  return edits && applyEdits(text, edits);
}

describe('a fix that adds a tool to the blacklist (E1)', () => {
  for (const [what, text, expected] of [
    ['no filter yet', head, `${head}    tools:\n      blacklist:\n        - 'odd tool'\n`],
    [
      'no filter yet, in flow style',
      'version: 1\nservers:\n  a: { transport: stdio, command: npx }\n',
      "version: 1\nservers:\n  a: { tools: { blacklist: ['odd tool'] }, transport: stdio, command: npx }\n",
    ],
    [
      'an empty filter',
      `${head}    tools: # none\n`,
      `${head}    tools: { blacklist: ['odd tool'] } # none\n`,
    ],
    [
      'a list in flow style',
      `${head}    tools: { blacklist: ['x_*'] } # c\n`,
      `${head}    tools: { blacklist: ['x_*', 'odd tool'] } # c\n`,
    ],
    [
      'a list in block style',
      `${head}    tools:\n      blacklist:\n        - x_* # why\n    enabled: true\n`,
      `${head}    tools:\n      blacklist:\n        - x_* # why\n        - odd tool\n    enabled: true\n`,
    ],
    [
      'an empty whitelist',
      `${head}    tools: { whitelist: [] }\n`,
      `${head}    tools: { blacklist: ['odd tool'], whitelist: [] }\n`,
    ],
  ] as const) {
    it(what, () =>
      assert.equal(
        after(text)?.replaceAll("'odd tool'", 'odd tool'),
        expected.replaceAll("'odd tool'", 'odd tool'),
      ),
    );
  }

  it('no blacklist beside a whitelist, because the meaning of both would change', () => {
    assert.equal(after(`${head}    tools: { whitelist: ['odd*'] }\n`), undefined);
    assert.equal(after(`${head}    tools: { whitelist: [open], blacklist: [x] }\n`), undefined);
  });

  it('no blacklist for a name with a wildcard', () => {
    assert.equal(after(head, 'odd*'), undefined);
    assert.equal(after(head, ''), undefined);
  });

  it('no blacklist in a filter shared with other servers, or from a merge', () => {
    const shared = `x: &f { blacklist: [y] }\n${head}    tools: *f\n  b: { transport: stdio, command: y, tools: *f }\n`;
    assert.equal(after(shared), undefined);
    const merged = `x: &m { tools: { blacklist: [y] } }\n${head}    <<: *m\n`;
    assert.equal(after(merged), undefined);
  });

  it('no blacklist in an unreadable text, nor for a missing server', () => {
    assert.equal(after('servers: {'), undefined);
    assert.equal(blacklistTool(head, 'b', 'x'), undefined);
  });
});
