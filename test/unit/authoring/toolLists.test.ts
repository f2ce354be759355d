import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decidingPattern, tickTools } from '../../../src/core/authoring/toolLists.js';
import { toolFilterOf } from '../../../src/core/config/edit/serverEdits.js';
import { compileFilter, judge } from '../../../src/core/tools/patterns.js';
import { applyEdits } from '../../../src/core/yaml/edits.js';

const head = 'version: 1\nservers:\n  a:\n    transport: stdio # how\n    command: npx\n';
const names = ['open', 'close', 'read_file', 'read_dir'];

function ticked(text: string, ticks: Record<string, boolean>): string | undefined {
  const edits = tickTools(text, 'a', names, new Map(Object.entries(ticks)));
  assert.ok((edits?.length ?? 0) <= 1, 'one edit');
  return edits && applyEdits(text, edits);
}

describe('ticks in a config file (E3)', () => {
  const cases: [string, string, Record<string, boolean>, string][] = [
    ['no lists yet', '', { open: false }, '    tools:\n      blacklist:\n        - open\n'],
    [
      'several at once',
      '',
      { open: false, close: false },
      '    tools:\n      blacklist:\n        - open\n        - close\n',
    ],
    [
      'an empty filter',
      '    tools: # none\n',
      { open: false },
      '    tools: { blacklist: [open] } # none\n',
    ],
    [
      'a list in flow style',
      '    tools: { whitelist: [open, close] } # c\n',
      { open: false, read_dir: true },
      '    tools: { whitelist: [close, read_dir] } # c\n',
    ],
    [
      'a list in block style keeps its comments',
      '    tools:\n      whitelist:\n        - open # why\n        - close\n        # last\n        - read_*\n    enabled: true\n',
      { close: false, read_dir: false },
      '    tools:\n      whitelist:\n        - open # why\n        # last\n        - read_file\n    enabled: true\n',
    ],
    [
      'the other list is added',
      '    tools:\n      blacklist: [read_*]\n',
      { read_dir: true },
      '    tools:\n      whitelist: [read_dir]\n      blacklist: [read_*]\n',
    ],
    ['a list that is empty goes', '    tools: { blacklist: [open] }\n', { open: true }, ''],
    [
      'a list that is empty goes, and other keys stay',
      '    tools:\n      blacklist:\n        - open\n      transform: []\n',
      { open: true },
      '    tools:\n      transform: []\n',
    ],
  ];
  for (const [what, before, ticks, after] of cases) {
    it(what, () => assert.equal(ticked(head + before, ticks), head + after));
  }

  it('ticks keep line breaks and other servers', () => {
    const text = `${head}  b: { transport: stdio, command: x }\n`.replaceAll('\n', '\r\n');
    const expected = `${head}    tools:\n      blacklist:\n        - open\n  b: { transport: stdio, command: x }\n`;
    assert.equal(ticked(text, { open: false }), expected.replaceAll('\n', '\r\n'));
  });

  it('ticks are refused if lists are shared, come with a merge, or are not lists', () => {
    const shared = `x: &f { blacklist: [close] }\n${head}    tools: *f\n  b: { transport: stdio, command: y, tools: *f }\n`;
    const merged = `x: &m { tools: { blacklist: [close] } }\n${head}    <<: *m\n`;
    for (const text of [shared, merged, `${head}    tools: { whitelist: open }\n`, 'servers: {']) {
      assert.equal(ticked(text, { open: false }), undefined, text);
    }
  });

  it('ticks publish exactly the ticked tools and can be taken back, in either style', () => {
    const list = fc.uniqueArray(fc.constantFrom(...names, 'read_*', '*'), { maxLength: 4 });
    const style = fc.constantFrom('flow', 'lines', 'block');
    const written = (key: string, items: readonly string[], how: string): string => {
      if (items.length === 0) return '';
      const quoted = items.map((one) => `'${one}'`);
      if (how === 'flow') return `      ${key}: [${quoted.join(', ')}] # ${key}\n`;
      if (how === 'lines')
        return `      ${key}: [\n${quoted.map((one) => `        ${one}, # c\n`).join('')}      ]\n`;
      return `      ${key}:\n${quoted.map((one) => `        - ${one} # c\n`).join('')}`;
    };
    fc.assert(
      fc.property(
        list,
        list,
        style,
        fc.dictionary(fc.constantFrom(...names), fc.boolean()),
        (w, b, how, ticks) => {
          const lists = written('whitelist', w, how) + written('blacklist', b, how);
          const text = `${head}${lists === '' ? '' : `    tools:\n${lists}`}    enabled: true # end\n`;
          const published = (of: string): string[] => {
            const filter = toolFilterOf(of, 'a');
            assert.ok(filter, of);
            return names.filter((name) => judge(compileFilter(filter), name).kind === 'in');
          };
          const before = published(text);
          const after = ticked(text, ticks);
          assert.ok(after !== undefined, text);
          assert.deepEqual(
            published(after),
            names.filter((name) => ticks[name] ?? before.includes(name)),
          );
          assert.match(after, /enabled: true # end\n/);
          const back = ticked(
            after,
            Object.fromEntries(names.map((name) => [name, before.includes(name)])),
          );
          assert.deepEqual(published(back ?? ''), before);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('the deciding pattern for a tool (N2)', () => {
  const at = (lists: string, tool: string): string | undefined => {
    const text = `${head}    prompts: { whitelist: ['*'] }\n    tools: { ${lists} }\n`;
    const span = decidingPattern(text, 'a', tool);
    return span && text.slice(span.start, span.end);
  };

  it('the first matching pattern decides, and the whitelist goes before the blacklist', () => {
    assert.equal(at("whitelist: [open, 'read_*']", 'read_dir'), "'read_*'");
    assert.equal(at("whitelist: [read_dir], blacklist: ['read_*']", 'read_dir'), 'read_dir');
    assert.equal(at("whitelist: [read_dir], blacklist: ['read_*']", 'read_file'), "'read_*'");
  });

  it('the whitelist decides if it has no pattern for the tool', () => {
    assert.equal(at('whitelist: [open]', 'close'), 'whitelist');
  });

  it('no pattern decides if no list applies', () => {
    assert.equal(at('blacklist: [open]', 'close'), undefined);
    assert.equal(at('', 'close'), undefined);
  });
});
