import assert from 'node:assert/strict';
import fc from 'fast-check';
import { tickedOf, withTicked } from '../../../src/core/authoring/rememberedTicks.js';
import {
  changedFileOf,
  decidingPattern,
  tickTools,
} from '../../../src/core/authoring/toolLists.js';
import { toolFilterOf } from '../../../src/core/config/edit/serverEdits.js';
import { compileFilter, judge } from '../../../src/core/tools/patterns.js';
import { applyEdits } from '../../../src/core/yaml/edits.js';

const head = 'version: 1\nservers:\n  a:\n    transport: stdio # how\n    command: npx\n';
const names = ['open', 'close', 'read_file', 'read_dir'];

function ticked(text: string, ticks: Record<string, boolean>): string | undefined {
  const made = tickTools(text, 'a', names, new Map(Object.entries(ticks)));
  const edits = made?.others.length === 0 ? made.edits : undefined;
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

  it('ticks are refused if the lists are not lists', () => {
    for (const text of [`${head}    tools: { whitelist: open }\n`, 'servers: {'])
      assert.equal(ticked(text, { open: false }), undefined, text);
  });

  describe('lists behind an alias (E3)', () => {
    const b = '  b: { transport: stdio, command: y';
    const shared: readonly (readonly [how: string, text: string])[] = [
      ['tools', `x: &f { whitelist: ['read_*', open] }\n${head}    tools: *f\n${b}, tools: *f }\n`],
      [
        'a list',
        `x: &f ['read_*', open]\n${head}    tools: { whitelist: *f }\n${b}, tools: { whitelist: *f } }\n`,
      ],
      [
        'a merge',
        `x: &f { tools: { whitelist: ['read_*', open] } }\n${head}    <<: *f\n${b}, <<: *f }\n`,
      ],
      [
        'the anchor in this server',
        `${head}    tools: &f\n      whitelist:\n        - 'read_*'\n        - open\n${b}, tools: *f }\n`,
      ],
      [
        'the anchor in the other server',
        `version: 1\nservers:\n${b}, tools: &f { whitelist: ['read_*', open] } }\n${head.replace('version: 1\nservers:\n', '')}    tools: *f\n`,
      ],
    ];
    const published = (text: string, server: string): string[] => {
      const filter = toolFilterOf(text, server);
      assert.ok(filter, text);
      return names.filter((name) => judge(compileFilter(filter), name).kind === 'in');
    };
    for (const [how, text] of shared)
      it(`${how}: both servers change, or only this one`, () => {
        for (const tick of [{ open: false }, { read_dir: false }, { close: true }]) {
          const wanted = names.filter(
            (name) =>
              new Map(Object.entries(tick)).get(name) ?? published(text, 'a').includes(name),
          );
          const plan = tickTools(text, 'a', names, new Map(Object.entries(tick)));
          assert.deepEqual(plan?.others, ['b']);
          const both = applyEdits(text, plan.edits);
          assert.deepEqual([published(both, 'a'), published(both, 'b')], [wanted, wanted], both);
          assert.ok(plan.own);
          const own = applyEdits(text, plan.own);
          assert.deepEqual(published(own, 'a'), wanted, own);
          assert.deepEqual(published(own, 'b'), published(text, 'b'), own);
        }
      });

    it('an anchor of one server only changes without a question', () => {
      const text = `x: &m { tools: { blacklist: [close] } }\n${head}    <<: *m\n`;
      const expected = text.replace('[close]', '[close, open]');
      assert.equal(ticked(text, { open: false }), expected);
    });
  });

  describe('a pattern comes back with its last tool (E3)', () => {
    type Step = Record<string, boolean>;
    const many = [...names, 'read_link', 'write_file'];
    function run(text: string, steps: readonly (Step | string)[]): string[] {
      let stored: unknown;
      let now = text;
      return steps.map((step) => {
        if (typeof step === 'string') return (now = now.replace('# edit', step));
        const last = tickedOf(stored, 'a');
        const plan = tickTools(now, 'a', many, new Map(Object.entries(step)), last);
        assert.ok(plan);
        stored = withTicked(stored, 'a', plan.after);
        return (now = applyEdits(now, plan.edits));
      });
    }
    const texts = [
      `${head}    tools: { whitelist: ['open', 'read_*', 'write_*'] } # edit\n`,
      `${head}    tools:\n      whitelist:\n        - 'read_*'\n        - open\n`,
      `${head}    tools:\n      whitelist:\n        - "open"\n        - "read_*"\n`,
      `${head}    tools: { whitelist: [read_*] }\n`,
    ];
    for (const text of texts) {
      it(`at its place, with its quotes: ${text.slice(head.length)}`, () => {
        assert.equal(run(text, [{ read_dir: false }, { read_dir: true }]).at(-1), text);
      });
      it(`after two tools, in either order: ${text.slice(head.length)}`, () => {
        const out = [{ read_dir: false }, { read_link: false }];
        const back = [{ read_dir: true }, { read_link: true }];
        assert.equal(run(text, [...out, ...back]).at(-1), text);
        assert.equal(run(text, [...out, ...back.toReversed()]).at(-1), text);
      });
    }

    it('a pattern of everything, too', () => {
      const text = `${head}    tools: { whitelist: ['*'] }\n`;
      const after = run(text, [{ read_dir: false }, { read_dir: true }]).at(-1) ?? '';
      assert.deepEqual(toolFilterOf(after, 'a'), { whitelist: ['*'], blacklist: [] });
    });

    it('also while another pattern is names', () => {
      const [first = ''] = texts;
      const steps = [{ read_dir: false }, { write_file: false }, { read_dir: true }];
      const after = run(first, steps).at(-1) ?? '';
      assert.deepEqual(toolFilterOf(after, 'a')?.whitelist, ['open', 'read_*']);
      const all = run(first, [...steps, { write_file: true }]).at(-1) ?? '';
      assert.deepEqual(toolFilterOf(all, 'a')?.whitelist.toSorted(), ['open', 'read_*', 'write_*']);
    });

    it('not after somebody else changed the lists', () => {
      const text = `${head}    tools:\n      whitelist:\n        - 'read_*'\n        # edit\n`;
      const after = run(text, [{ read_dir: false }, '- close', { read_dir: true }]).at(-1) ?? '';
      assert.deepEqual(toolFilterOf(after, 'a')?.whitelist, [
        'read_file',
        'read_link',
        'close',
        'read_dir',
      ]);
    });

    it('says which pattern became how many names', () => {
      const plan = tickTools(texts[0] ?? '', 'a', many, new Map([['read_dir', false]]));
      assert.deepEqual([plan?.gone, plan?.count], [['read_*'], 2]);
    });
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

describe('the layer or the file below it in which a server changes (C7)', () => {
  const start = { line: 0, character: 0 };
  const at = (file: string) => ({ file, range: { start, end: start } });
  const [shared, mine] = [at('/tree/.minds/mcp.yaml'), at('/main/.minds/mcp.local.yaml')];
  const fileOf = (isForMe: boolean, server: Partial<Parameters<typeof changedFileOf>[0]>) =>
    changedFileOf(
      { origin: 'folder', place: shared, local: [], localPlace: undefined, ...server },
      isForMe,
      () => mine.file,
    );

  it('is the shared one, or the layer that counts there', () => {
    assert.deepEqual(fileOf(false, {}), { file: shared.file });
    assert.deepEqual(fileOf(true, {}), { file: mine.file, below: shared.file });
  });

  it('is the layer of the main worktree for a server that only this layer has', () => {
    for (const isForMe of [false, true])
      assert.deepEqual(fileOf(isForMe, { origin: 'local', place: mine, localPlace: mine }), {
        file: mine.file,
      });
  });
});
