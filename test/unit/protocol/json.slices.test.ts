/** Rule P10: JSON in slices has the results and errors of `JSON.parse` and `JSON.stringify`. */
import assert from 'node:assert/strict';
import { atOnce } from '../../../src/core/base/turns.js';
import { isLarge, jsonInSlices } from '../../../src/core/base/jsonInSlices.js';
import { isTooDeep, parseFlattened, parsedInSlices } from '../../../src/core/protocol/json.js';
import { threadTime } from '../../support/core/threadTime.js';

const long = 40_000;
const many = (one: string, times = long): string => Array.from({ length: times }, () => one).join();
const same = (text: string): void => {
  let expected: unknown;
  try {
    expected = parseFlattened(text);
  } catch {
    assert.throws(() => atOnce(parsedInSlices(text)), SyntaxError, text.slice(0, 200));
    return;
  }
  const value = atOnce(parsedInSlices(text));
  assert.deepEqual(value, expected);
  // The texts also show the order of keys and the exact numbers.
  assert.equal(JSON.stringify(value), JSON.stringify(expected));
};

describe('JSON in slices', () => {
  const wholes: Readonly<Record<string, string>> = {
    'small objects': `{"v":[${many('{"a":0}')}]}`,
    'short strings': `{"v":[${many('"ab"')}],"w":1}`,
    'strings of quotes': `[${many('"\\"\\\\"')}]`,
    numbers: `[${many('1.25,-0,1e400,12345678901234567890,0.1')}]`,
    'one long text': `{"a":{"b":"${'x'.repeat(1_000_000)}","c":2},"d":3}`,
    'a long text of escapes': `["${'\\n\\u00e9\\\\\\ud83d\\ude00'.repeat(50_000)}",1]`,
    'a long text of slashes': `["${'\\\\'.repeat(200_000)}"]`,
    'a long text of pairs': `["${'😀x'.repeat(100_000)}"]`,
    'long texts beside each other': `{"a":"${'x'.repeat(200_000)}" , "b" : "${'y'.repeat(200_000)}"}`,
    'a long key': `{"${'k'.repeat(200_000)}":1}`,
    'many keys': `{${Array.from({ length: long }, (_, n) => `"k${n}": {"n":${n}}`).join()}}`,
    'keys that are numbers, and twice': `{${Array.from({ length: long }, (_, n) => `"${(n * 7919) % 1000}":${n}`).join()}}`,
    'keys that mean something': `{"__proto__":{"x":1},"v":[${many('{"__proto__":1}')}],"constructor":2}`,
    'lists in lists': `${'[1,'.repeat(200)}[${many('[[],{}]')}]${']'.repeat(200)}`,
    'deep in places': `{"v":[${many(`${'['.repeat(300)}${']'.repeat(300)}`, 500)}]}`,
    'too deep in places': `{"v":[${many(`${'['.repeat(700)}1${']'.repeat(700)}`, 100)},{"x":2}]}`,
    blanks: `  {\n "v" :\t[ ${many(' 1 \n')} ] \r\n} \n`,
    'an empty list': '[]',
    'nothing in much': `{"a":${' '.repeat(30_000)}[${' '.repeat(30_000)}],"b":{${' '.repeat(30_000)}}}`,
  };
  for (const [what, text] of Object.entries(wholes))
    it(`reading in slices gives the result of JSON.parse: ${what}`, () => same(text));

  const body = many('{"a":[1,"x"]}', 20_000);
  for (const text of [
    `[${body},]`,
    `[,${body}]`,
    `[${body},,1]`,
    `[${body}}`,
    `{"v":[${body}}]`,
    `[${body}`,
    `[${body}]]`,
    `[${body}]x`,
    `[${body}] [1]`,
    `x[${body}]`,
    `{"v" [${body}]}`,
    `{"v"::[${body}]}`,
    `{[${body}]:1}`,
    `{"a":1,[${body}]}`,
    `["a":[${body}]]`,
    `[${body} 1]`,
    `[[${body}]1]`,
    `[1 [${body}]]`,
    `{"v":[${body}],}`,
    `{,"v":[${body}]}`,
    `{"v":1 "w":[${body}]}`,
    `{"v","w":[${body}]}`,
    `["${'x'.repeat(300_000)}`,
    `["${'x'.repeat(300_000)}"1]`,
    `["${'x'.repeat(300_000)}" "a"]`,
    `["${'x'.repeat(300_000)}\n"]`,
    `["${'x'.repeat(100_000)}\\x${'x'.repeat(100_000)}"]`,
    `["${'x'.repeat(300_000)}",]`,
    `{"${'x'.repeat(300_000)}"}`,
    `[${body},{"a":[1}]`,
    '',
    '   ',
    ',',
    '"x"',
  ])
    it(`reading in slices refuses an invalid text like JSON.parse: ${text.slice(0, 20)}…${text.slice(-12)}`, () =>
      text === '"x"' ? undefined : same(text));

  it('reading in slices gives the result of JSON.parse for damaged texts', () => {
    let state = 7;
    const next = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
    const text = wholes['small objects'] ?? '';
    for (let round = 0; round < 30; round++) {
      const at = Math.floor(next() * text.length);
      const put = '[]{},:"\\ 1x'.charAt(Math.floor(next() * 11));
      same(text.slice(0, at) + put + text.slice(at + Math.floor(next() * 2)));
    }
  });

  it('reading in slices finds out if a large value is too deep', () => {
    const value = atOnce(parsedInSlices(wholes['small objects'] ?? '')) as object;
    assert.ok(!isTooDeep(value));
    const deep = atOnce(parsedInSlices(wholes['deep in places'] ?? '')) as object;
    assert.ok(isTooDeep(deep));
  });

  it('reading in slices takes about as long for deep values as for flat ones', () => {
    const msOf = (depth: number): number => {
      const one = `${'['.repeat(depth)}${many('1', 8_300)}${']'.repeat(depth)}`;
      const text = `[${many(one, 60)}]`;
      const before = threadTime();
      atOnce(parsedInSlices(text));
      return threadTime() - before;
    };
    const flat = Math.max(msOf(1), 20);
    for (const depth of [250, 500]) assert.ok(msOf(depth) < 15 * flat, `${depth} levels`);
  });

  it('reading in slices yields after each piece', () => {
    for (const [what, text] of Object.entries(wholes)) {
      let slices = 0;
      for (const work = parsedInSlices(text); !work.next().done;) slices += 1;
      assert.ok(
        what === 'a long key' || slices >= Math.floor(text.length / 32_768) - 1,
        `${what}: ${slices} slices`,
      );
    }
  });
});

describe('JSON that is written in slices', () => {
  const values: Readonly<Record<string, unknown>> = {
    'small objects': { v: Array.from({ length: 100_000 }, () => ({ a: 0 })) },
    numbers: [Array.from({ length: 100_000 }, (_, n) => n / 3), 1],
    'a long text': { a: 'x"\n'.repeat(300_000), b: [1, 'y'.repeat(100_000), {}] },
    'pairs and halves of pairs': [`x${'😀'.repeat(100_000)}`, '\ud83d'.repeat(100_000)],
    'omitted values': {
      a: undefined,
      v: Array.from({ length: 60_000 }, () => 'ab'),
      b: undefined,
      c: null,
    },
    nothing: { a: [], b: {}, c: [[], {}, ''], d: 'z'.repeat(400_000) },
    'many keys': Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`"${n}`, n])),
  };
  for (const [what, value] of Object.entries(values)) {
    it(`writing in slices gives the result of JSON.stringify: ${what}`, () => {
      assert.ok(atOnce(jsonInSlices(value)) === JSON.stringify(value));
      assert.ok(isLarge(value));
    });
  }

  it('small values need no slices', () =>
    assert.equal(isLarge({ content: [{ type: 'text', text: 'x' }] }), false));
});
