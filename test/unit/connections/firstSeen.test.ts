/** The order in which agents get the tools of a server, and the keys of each tool (N6). */
import assert from 'node:assert/strict';
import type { ServerDefinition } from '../../../src/core/config/model.js';
import { FirstSeen } from '../../../src/core/connections/firstSeen.js';
import type { OfferedTool } from '../../../src/core/tools/catalogue.js';
import { seenTool, type SeenTool } from '../../../src/core/tools/seenTool.js';
import { seedOf, Random } from '../stress/random.js';

type Keys = readonly string[];

const toolOf = (name: string, properties: Keys = [], description = ''): OfferedTool => ({
  name,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(properties.map((key) => [key, { type: 'string' }])),
  },
});
const named = (...names: Keys): OfferedTool[] => names.map((name) => toolOf(name));
const serverOf = (id: string, launchHash = 'one'): ServerDefinition =>
  ({ id, launchHash }) as ServerDefinition;
const shown = (tools: readonly OfferedTool[]): string =>
  tools
    .map(({ name, inputSchema }) => `${name}(${Object.keys(inputSchema.properties ?? {}).join()})`)
    .join(' ');

class Lists {
  constructor(
    private readonly seen: readonly SeenTool[] = [],
    private readonly tools: readonly OfferedTool[] = [],
  ) {}

  private readonly firstSeen = new FirstSeen(() => ({ tools: this.tools, seen: this.seen }));

  async of(
    tools: readonly OfferedTool[],
    server = 'a',
    launch = 'one',
  ): Promise<readonly OfferedTool[]> {
    const listing = { tools, malformed: [] };
    return (await this.firstSeen.inOrder(listing, {}, serverOf(server, launch), {})).tools;
  }
}

describe('the order first seen (N6)', () => {
  it('the first list is published as the server gives it: nothing is sorted', async () => {
    const tools = [toolOf('write', ['path', 'content']), toolOf('read', ['tail', 'path', 'head'])];
    const listed = await new Lists().of(tools);
    assert.deepEqual(listed, tools);
    assert.equal(shown(listed), 'write(path,content) read(tail,path,head)');
  });

  it('a list with other orders of tools and keys is the same to the byte', async () => {
    const lists = new Lists();
    const before = JSON.stringify(
      await lists.of([toolOf('write', ['path', 'content']), ...named('b', 'a')]),
    );
    const shuffled = [...named('a'), toolOf('write', ['content', 'path']), ...named('b')];
    assert.equal(JSON.stringify(await lists.of(shuffled)), before);
  });

  it('another launch keeps the order if it lists the same tools, and else has its own', async () => {
    const lists = new Lists();
    await lists.of(named('c', 'b', 'a'));
    assert.equal(shown(await lists.of(named('a', 'b', 'c'), 'a', 'two')), 'c() b() a()');
    assert.equal(shown(await lists.of(named('a', 'b'), 'a', 'three')), 'a() b()');
    assert.equal(shown(await lists.of(named('b', 'a', 'c'), 'a', 'four')), 'b() a() c()');
  });

  it('random shuffles of random tools change no byte', async () => {
    const random = new Random(seedOf('MCP_TOOLSETS_ORDER_SEED'));
    const shuffled = <T>(list: readonly T[]): T[] => {
      const left = [...list];
      return list.map(() => left.splice(random.int(left.length), 1)[0] as T);
    };
    const value = (depth: number): unknown => {
      if (depth === 0 || random.chance(0.3)) return random.int(5);
      const keys = shuffled(['type', 'b', 'a', 'properties', 'required', '10', '2']).slice(
        random.int(7),
      );
      const of = (key: string): unknown =>
        key === 'required' ? shuffled(['x', 'y', 'z']) : value(depth - 1);
      return Object.fromEntries(keys.map((key) => [key, of(key)]));
    };
    const again = (given: unknown, key = ''): unknown => {
      if (Array.isArray(given)) return key === 'required' ? shuffled(given) : given;
      if (typeof given !== 'object' || given === null) return given;
      return Object.fromEntries(
        shuffled(Object.entries(given)).map(([inner, of]) => [inner, again(of, inner)]),
      );
    };
    for (let run = 0; run < 100; run++) {
      const lists = new Lists();
      const schema = (): unknown => ({
        type: 'object',
        properties: { x: value(3), y: value(0) },
        required: ['y', 'x'],
      });
      const tools = Array.from({ length: 5 }, (_, index) => ({
        inputSchema: schema(),
        name: `t${index}`,
        _meta: { b: 1, a: { d: 1, c: [{ f: 1, e: 2 }] } },
      }));
      const before = JSON.stringify(await lists.of(tools as OfferedTool[]));
      assert.equal(before, JSON.stringify(tools));
      for (let round = 0; round < 3; round++)
        assert.equal(
          JSON.stringify(await lists.of(shuffled(tools).map((tool) => again(tool) as OfferedTool))),
          before,
        );
    }
  });

  it('a changed tool has the keys of its new list and its earlier place, and the other tools stay', async () => {
    const lists = new Lists();
    await lists.of([toolOf('a', ['x', 'y']), toolOf('b', ['x', 'y'])]);
    const changed = await lists.of([toolOf('b', ['y', 'x']), toolOf('a', ['z', 'y', 'x'])]);
    assert.equal(shown(changed), 'a(z,y,x) b(x,y)');
    assert.equal(
      shown(await lists.of([toolOf('a', ['y', 'z', 'x']), toolOf('b', ['x', 'y'])])),
      'a(z,y,x) b(x,y)',
    );
    assert.equal(
      shown(await lists.of([toolOf('a', ['y', 'x']), toolOf('b', ['x', 'y'])])),
      'a(x,y) b(x,y)',
    );
  });

  for (const [first, next, wanted] of [
    ['a b c', 'a b new c', 'a b new c'],
    ['a b c', 'new a b c', 'new a b c'],
    ['a b c', 'a b c new', 'a b c new'],
    ['a b c', 'c new b a', 'a b c new'],
    ['a b c', 'b one two a c', 'a b one two c'],
    ['a b c', 'c a', 'a c'],
    ['', 'b a', 'b a'],
    ['a b', 'c d', 'c d'],
  ] as const)
    it(`a new tool comes behind the tool that the server lists before it: "${first}", then "${next}"`, async () => {
      const lists = new Lists();
      await lists.of(named(...first.split(' ').filter(Boolean)));
      const listed = await lists.of(named(...next.split(' ')));
      assert.equal(listed.map(({ name }) => name).join(' '), wanted);
    });

  it('a tool that was gone for a while comes back to its place', async () => {
    const lists = new Lists();
    await lists.of(named('a', 'b', 'c'));
    await lists.of(named('c', 'a'));
    assert.deepEqual(await lists.of(named('c', 'b', 'a')), named('a', 'b', 'c'));
  });

  it('conversations with different tools keep their orders beside each other', async () => {
    const lists = new Lists();
    const [one, other] = [
      [toolOf('a', ['x', 'y']), ...named('own', 'b')],
      [toolOf('a', ['x', 'y', 'z']), ...named('b', 'other')],
    ];
    const before = [shown(await lists.of(one)), shown(await lists.of(other))];
    const again = [
      [...named('b', 'own'), toolOf('a', ['y', 'x'])],
      [...named('other', 'b'), toolOf('a', ['z', 'y', 'x'])],
    ];
    assert.deepEqual([shown(await lists.of(again[0]!)), shown(await lists.of(again[1]!))], before);
  });

  it('a name that is listed twice has its first place', async () => {
    const lists = new Lists();
    assert.deepEqual(
      (await lists.of(named('b', 'a', 'b'))).map(({ name }) => name),
      ['b', 'b', 'a'],
    );
  });

  it('servers know nothing of each other', async () => {
    const lists = new Lists();
    await lists.of([toolOf('t', ['x', 'y']), ...named('b')], 'a');
    const other = [...named('b'), toolOf('t', ['y', 'x'])];
    assert.deepEqual(await lists.of(other, 'b'), other);
  });

  for (const what of ['order', 'list'] as const)
    it(`the last ${what} of an earlier host counts as seen first`, async () => {
      const before = [toolOf('b', ['y', 'x']), ...named('a')];
      const lists = what === 'order' ? new Lists(before.map(seenTool)) : new Lists([], before);
      const shuffled = [...named('a'), toolOf('b', ['x', 'y'])];
      assert.equal(JSON.stringify(await lists.of(shuffled)), JSON.stringify(before));
    });

  it('a damaged order of an earlier host leaves the tools as the server lists them', async () => {
    const tools = [toolOf('b', ['y', 'x']), ...named('a')];
    const rows = tools.map((tool): SeenTool => [tool.name, seenTool(tool)[1], '1,1,x,-5']);
    assert.equal(JSON.stringify(await new Lists(rows).of(tools)), JSON.stringify(tools));
  });

  it('a server that always lists other tools fills no memory', async () => {
    const lists = new Lists();
    const name = 'n'.repeat(1000);
    for (let run = 0; run < 300; run++) {
      const listed = await lists.of(
        Array.from({ length: 200 }, (_, index) => toolOf(`${name}${run} ${index}`)),
      );
      assert.equal(listed.length, 200);
    }
    const kept = JSON.stringify(
      [...Object.values(lists)].map((one: { servers?: Map<string, object> }) =>
        [...(one.servers?.values() ?? [])].map((seen) =>
          Object.values(seen).map((part: unknown) => (part instanceof Map ? [...part] : part)),
        ),
      ),
    );
    assert.ok(kept.length < 20_000_000, `${kept.length} characters`);
  });

  it('a tool of more than 64 KiB is published as its server lists it', async () => {
    const lists = new Lists();
    const large = (...keys: Keys): OfferedTool => toolOf('t', keys, 'x'.repeat(70_000));
    await lists.of([large('a', 'b')]);
    assert.equal(shown(await lists.of([large('b', 'a')])), 't(b,a)');
  });
});
