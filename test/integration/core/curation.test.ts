/** Filters and names on running servers (N1, N4). The unit tests cover every row and corner. */
import assert from 'node:assert/strict';
import { fixture, rawWith } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('core: filters and names', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage();
  });

  afterEach(endStages);

  const rows: readonly [
    whitelist: string[] | undefined,
    blacklist: string[] | undefined,
    published: string,
  ][] = [
    [undefined, undefined, 'echo env extra_1 extra_2'],
    [['e*'], undefined, 'echo env extra_1 extra_2'],
    [['extra_*'], undefined, 'extra_1 extra_2'],
    [['extra_*'], [], 'extra_1 extra_2'],
    [[], ['extra_*'], 'echo env'],
    [undefined, ['extra_1', 'echo'], 'env extra_2'],
    [['extra_2'], ['extra_*'], 'echo env extra_2'],
    [['extra_2'], ['*'], 'extra_2'],
    [['*'], ['*'], 'echo env extra_1 extra_2'],
    [['e*o'], ['e??o', '[e]*', 'Echo'], 'echo env extra_1 extra_2'],
    [['nothing_of_it'], undefined, ''],
  ];

  it('Whitelist and blacklist apply row by row on one running server (N2)', async () => {
    const tools = ['echo', 'env', 'extra_1', 'extra_2'];
    await stage.edit({ a: rawWith(tools) });
    const pid = stage.pid('a');
    for (const [whitelist, blacklist, published] of rows) {
      await stage.edit({ a: rawWith(tools, { tools: { whitelist, blacklist } }) });
      assert.equal(
        stage.publishedBy('a').join(' '),
        published,
        JSON.stringify({ whitelist, blacklist }),
      );
      const left = tools.filter((tool) => !published.split(' ').includes(tool));
      assert.deepEqual(
        stage.server('a').excluded.map(({ original }) => original),
        left,
      );
      for (const tool of left)
        assert.equal((await stage.outcome('a', tool)).kind, 'error', `${tool} can be called`);
    }
    assert.equal(stage.pid('a'), pid);
  });

  it('Tools that a list keeps out and patterns without a match are reported at the list and the pattern', async () => {
    await stage.edit({ a: rawWith(['echo', 'add'], { tools: { whitelist: ['echo', 'ecko'] } }) });
    assert.deepEqual(stage.problems(), ['pattern-matches-nothing "ecko"']);
    assert.match(stage.problem('filtered-tools').message, /add/);
  });

  it('Invalid names, unusable schemas and malformed entries cost one tool each (N4, N7)', async () => {
    await stage.edit({
      a: fixture('odd-tools', ['--kind', 'names,schema,malformed,keywords,nulls']),
      b: rawWith(['echo']),
    });
    const sixtyFour = 'x'.repeat(64);
    // A name may have 64 characters, but the editor's id cannot hold that many.
    const named = ['first', sixtyFour, 'array_without_items', 'keywords', 'nulls', 'last'];
    assert.deepEqual(
      stage.published().sort(),
      [...named.map((name) => `a/${name}`), 'b/echo'].sort(),
    );
    const forEditor = (): string[] | undefined =>
      stage.core.backend.toolset('a', policies.editor)?.tools.map(({ name }) => name);
    assert.deepEqual(
      forEditor()?.sort(),
      ['first', 'keywords', 'last', 'nulls'],
      'for the editor alone they are left out',
    );
    assert.deepEqual(
      stage
        .server('a')
        .tools.filter(({ editorRefuses }) => editorRefuses)
        .map(({ original, editorRefuses }) => [original, editorRefuses?.kind])
        .sort(),
      [
        ['array_without_items', 'schema'],
        [sixtyFour, 'idTooLong'],
      ],
    );
    const codes = stage.problems();
    const count = (code: string): number => codes.filter((text) => text === `${code} "a"`).length;
    assert.deepEqual(
      [
        'tool-name-invalid',
        'schema-unusable',
        'editor-schema-refused',
        'tool-malformed',
        'editor-id-too-long',
      ].map(count),
      [5, 1, 1, 6, 1],
      codes.join('\n'),
    );
    for (const tool of named) assert.equal(await stage.text('a', tool), tool);
    const signal = new AbortController().signal;
    const asEditor = {
      toolset: 'a',
      arguments: {},
      conversation: 'd',
      signal,
      policy: policies.editor,
    } as const;
    const refused = await stage.host.call({ ...asEditor, tool: 'array_without_items' });
    assert.equal(refused.kind, 'error', 'what the editor is not shown it cannot call');
  });

  it('A schema with every keyword passes unchanged', async () => {
    await stage.edit({ a: fixture('odd-tools', ['--kind', 'keywords']) });
    const tool = stage.toolsets()[0]?.tools.find(({ published }) => published === 'keywords')?.tool;
    const text = JSON.stringify(tool);
    for (const keyword of [
      '$defs',
      'prefixItems',
      'unevaluatedProperties',
      'x-vendor',
      'x-unknown',
      'icons',
      'execution',
    ]) {
      assert.ok(text.includes(`"${keyword}"`), `${keyword} in ${text}`);
    }
  });

  it('A step that replaces publishes tools with dots, and a call reaches the server under its own name (N4)', async () => {
    const dotted = fixture('odd-tools', ['--kind', 'names']);
    await stage.edit({
      a: { ...dotted, transform: [{ replace: { '.': '_', '/': '-', ' ': '_' } }] },
    });
    const mended = { with_dots: 'with.dots', with_spaces: 'with spaces', 'a-b': 'a/b' };
    assert.deepEqual(
      stage
        .published()
        .filter((name) => name.slice(2) in mended)
        .sort(),
      Object.keys(mended)
        .map((name) => `a/${name}`)
        .sort(),
    );
    for (const [published, original] of Object.entries(mended))
      assert.equal(await stage.text('a', published), original);
    await stage.edit({ a: { ...dotted, transform: [{ prefix: 'p_' }] } });
    assert.deepEqual(
      stage.problems().filter((text) => text.startsWith('tool-name-invalid')).length,
      5,
    );
  });

  it('An invalid published name is dropped, never cut', async () => {
    await stage.edit({ a: rawWith(['echo', 'add'], { transform: [{ prefix: 'p'.repeat(61) }] }) });
    assert.deepEqual(stage.problems().sort(), [
      'editor-id-too-long "transform"',
      'published-name-invalid "transform"',
    ]);
    assert.deepEqual(stage.published(), [`a/${'p'.repeat(61)}add`]);
    assert.match(stage.problem('published-name-invalid').message, /65/);
  });

  it('Two tools of one server with one published name: the update is refused, the previous names stay (N5)', async () => {
    await stage.edit({ a: rawWith(['x', 'p_x']), b: rawWith(['echo']) });
    const pid = stage.pid('a');
    await stage.edit({
      a: rawWith(['x', 'p_x'], { transform: [{ prefix: { remove: 'p_', add: '' } }] }),
      b: rawWith(['echo']),
    });
    assert.deepEqual(stage.published(), ['a/x', 'a/p_x', 'b/echo']);
    assert.equal(stage.problem('name-twice-in-server').severity, 'error');
    assert.ok(stage.server('a').previous);
    await stage.edit({ a: rawWith(['x', 'p_x']), b: rawWith(['echo']) });
    assert.deepEqual(stage.host.snapshot.problems, []);
    assert.equal(stage.pid('a'), pid);
  });

  it('A server that lists a name twice keeps the first tool (N5a)', async () => {
    await stage.edit({ a: fixture('odd-tools', ['--kind', 'duplicate']), b: rawWith(['echo']) });
    assert.deepEqual(stage.published(), ['a/first', 'a/twin', 'a/last', 'b/echo']);
    assert.deepEqual(stage.problems(), ['tool-listed-twice "a"']);
    assert.equal(
      stage.server('a').tools.find(({ original }) => original === 'twin')?.tool.description,
      'one',
    );
    assert.equal(await stage.text('a', 'twin'), 'twin');
    await stage.edit({
      a: fixture('odd-tools', ['--kind', 'duplicate'], { tools: { blacklist: ['twin'] } }),
      b: rawWith(['echo']),
    });
    assert.deepEqual(stage.published(), ['a/first', 'a/last', 'b/echo']);
    assert.deepEqual(stage.problems(), []);
  });

  it('A contested name belongs to the first server in the file, whichever is quicker, and is free after its removal (N5)', async () => {
    const slow = fixture('slow-start', ['--delay', '300', '--tools', 'echo,pid']);
    const quick = rawWith(['echo', 'add']);
    await stage.edit({ slow, quick });
    assert.deepEqual(stage.published(), ['slow/echo', 'slow/pid', 'quick/add']);
    const taken = stage.problem('name-taken');
    assert.deepEqual(stage.problems(), ['name-taken "quick"']);
    assert.match(taken.message, /"echo".*"slow"|"slow".*"echo"/);
    assert.equal(taken.related?.length, 1);
    assert.deepEqual(stage.server('quick').excluded, [
      { original: 'echo', reason: { kind: 'nameTaken', published: 'echo', holder: 'slow' } },
    ]);
    const pid = stage.pid('quick');

    await stage.edit({ slow: { ...slow, tools: { blacklist: ['echo'] } }, quick });
    assert.deepEqual(
      stage.published(),
      ['slow/pid', 'quick/echo', 'quick/add'],
      'free by a filter',
    );
    await stage.edit({ slow, quick });
    assert.deepEqual(stage.published(), ['slow/echo', 'slow/pid', 'quick/add'], 'and taken back');
    await stage.edit({ quick });
    assert.deepEqual(stage.published(), ['quick/echo', 'quick/add'], 'free by a removal');
    assert.deepEqual(stage.problems(), []);
    assert.equal(await stage.text('quick', 'echo', { text: 'mine' }), 'mine');
    assert.equal(stage.pid('quick'), pid);
  });

  it('The order of the file decides, and an edit of the order changes the names', async () => {
    const a = rawWith(['echo', 'add']);
    const b = rawWith(['echo', 'count']);
    await stage.edit({ a, b });
    assert.deepEqual(stage.published(), ['a/echo', 'a/add', 'b/count']);
    const pids = [stage.pid('a'), stage.pid('b')];
    await stage.edit({ b, a });
    assert.deepEqual(stage.published(), ['b/echo', 'b/count', 'a/add']);
    assert.deepEqual([stage.pid('a'), stage.pid('b')], pids);
  });

  it('A running server takes a name from the servers behind it and gives it back', async () => {
    await stage.edit({ a: fixture('changes-tools'), b: rawWith(['extra_1', 'extra_9']) });
    assert.deepEqual(stage.publishedBy('b'), ['extra_1', 'extra_9']);
    await stage.text('a', 'become', { names: ['extra_1'] });
    await stage.until(
      () => stage.publishedBy('b').join() === 'extra_9',
      'the first in the file to take the name',
    );
    assert.ok(stage.publishedBy('a').includes('extra_1'));
    await stage.text('a', 'become', { names: [] });
    await stage.until(
      () => stage.publishedBy('b').join() === 'extra_1,extra_9',
      'the name to be free again',
    );
    assert.deepEqual(stage.problems(), []);
  });

  it('Names of the built-in toolset are reserved', async () => {
    await stage.edit({ a: rawWith(['mcp_status', 'echo']) });
    assert.deepEqual(stage.published(), ['a/echo']);
    assert.deepEqual(stage.problems(), ['name-reserved "a"']);
  });
});
