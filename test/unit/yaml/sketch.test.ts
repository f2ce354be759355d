import assert from 'node:assert/strict';
import fc from 'fast-check';
import { sketch, type SketchBox } from '../../../src/core/yaml/sketch.js';
import { wholeFormat } from '../config/fixtures.js';

/** `role path "what would be replaced"` at the place marked by `¦`. */
function slotAt(marked: string): string {
  const cursor = marked.indexOf('¦');
  const text = marked.replace('¦', '');
  const { slot } = sketch(text, cursor);
  if (!slot) return 'nothing';
  return `${slot.role} ${slot.path.join('.')} "${text.slice(slot.span.start, slot.span.end)}"`;
}

describe('the possible input at a place (E2)', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['¦', 'key  ""'],
    ['ver¦', 'key  "ver"'],
    ['version: 1\n¦', 'key  ""'],
    ['version: 1\n¦\nservers:\n', 'key  ""'],
    ['version: ¦', 'value version ""'],
    ['servers:\n  ¦', 'key servers ""'],
    ['servers:\n  sea¦', 'key servers "sea"'],
    ['servers:\n  a:\n  ¦', 'key servers ""'],
    ['servers:\n  a:\n    ¦', 'key servers.a ""'],
    ['servers:\n  a:\n    tra¦\n    command: npx\n', 'key servers.a "tra"'],
    ['servers:\n  a:\n    command: npx\n    tra¦', 'key servers.a "tra"'],
    ['servers:\n  a:\n    command: npx\n    ¦\n  b:\n', 'key servers.a ""'],
    ['servers:\n  a:\n    command: npx\n  ¦\n  b:\n', 'key servers ""'],
    ['servers:\n  a:\n    trans¦port: stdio\n', 'key servers.a "transport"'],
    ['servers:\n  a:\n    transport:¦', 'value servers.a.transport ""'],
    ['servers:\n  a:\n    transport: ¦', 'value servers.a.transport ""'],
    ['servers:\n  a:\n    transport: st¦d # how\n', 'value servers.a.transport "std"'],
    ["servers:\n  a:\n    transport: 'st¦'\n", "value servers.a.transport \"'st'\""],
    ["servers:\n  a:\n    transport: 'st¦\n    command: x\n", "value servers.a.transport \"'st\""],
    ['servers:\n  a:\n    tools:\n      whitelist:\n        - ¦', 'value servers.a.tools.whitelist.0 ""'],
    ['servers:\n  a:\n    tools:\n      whitelist:\n        - one\n        - tw¦', 'value servers.a.tools.whitelist.1 "tw"'],
    ['servers:\n  a:\n    tools:\n      whitelist:\n      - ¦\n      blacklist:\n', 'value servers.a.tools.whitelist.0 ""'],
    ['servers:\n  a:\n    tools:\n      whitelist:\n      - one\n      ¦', 'key servers.a.tools ""'],
    ['servers:\n  a:\n    tools: { ¦', 'key servers.a.tools ""'],
    ['servers:\n  a:\n    tools: {¦}\n', 'key servers.a.tools ""'],
    ['servers:\n  a:\n    tools: { whi¦ }\n', 'key servers.a.tools "whi"'],
    ['servers:\n  a:\n    tools: { whitelist: [¦', 'value servers.a.tools.whitelist.0 ""'],
    ["servers:\n  a:\n    tools: { whitelist: ['one', ¦], blacklist: [] }\n", 'value servers.a.tools.whitelist.1 ""'],
    ["servers:\n  a:\n    tools: { whitelist: ['one', 'tw¦'], blacklist: [] }\n", "value servers.a.tools.whitelist.1 \"'tw'\""],
    ["servers:\n  a:\n    tools: { whitelist: [one], ¦ }\n", 'key servers.a.tools ""'],
    ['servers:\n  a:\n    tools: { whitelist: [one,\n      ¦\n      two] }\n', 'value servers.a.tools.whitelist.1 ""'],
    ['servers:\n  a:\n    tools: { whitelist: [one\n    comm¦', 'key servers.a "comm"'],
    ['servers:\n  a:\n    tools: { whitelist: [one,\n      two] }¦\n', 'nothing'],
    ['servers: { a: { tr¦ } }', 'key servers.a "tr"'],
    ['servers: { a: { transport: ¦ } }', 'value servers.a.transport ""'],
    ['servers: { a: { env: { T: { env: SE¦ } } } }', 'value servers.a.env.T.env "SE"'],
    ['{"servers":{"a":{"transport":"¦"}}}', 'value servers.a.transport """"'],
    ['{"servers":{"a":{\n  "¦"\n}}}', 'key servers.a """"'],
    ['servers:\n  a:\n    transform:\n      - ¦', 'value servers.a.transform.0 ""'],
    ['servers:\n  a:\n    transform:\n      - pre¦', 'value servers.a.transform.0 "pre"'],
    ['servers:\n  a:\n    transform:\n      - prefix: ¦', 'value servers.a.transform.0.prefix ""'],
    ['servers:\n  a:\n    transform:\n      - prefix:\n          ¦', 'key servers.a.transform.0.prefix ""'],
    ['servers:\n  a:\n    transform: [{ ¦', 'key servers.a.transform.0 ""'],
    ['servers:\n  a:\n    transform: [{ prefix: x }, { ¦ }]', 'key servers.a.transform.1 ""'],
    ['servers:\n  a: &base\n    ¦', 'key servers.a ""'],
    ['x-b: &b\n  command: x\n  ¦', 'key x-b ""'],
    ['servers:\n  a:\n    env:\n      T: { env: ¦', 'value servers.a.env.T.env ""'],
    ['servers:\n  a:\n    args: [\n    command: ¦', 'value servers.a.command ""'],
    ['servers:\n  a:\n    command: >-\n      text: ¦\n    cwd: .\n', 'nothing'],
    ['servers:\n  # com¦ment\n', 'nothing'],
    ['servers:\n  a:\n    command: npx # tra¦\n', 'nothing'],
    ['servers:\r\n  a:\r\n    tra¦\r\n    command: npx\r\n', 'key servers.a "tra"'],
    ["servers:\n  'a b':\n    ¦", 'key servers.a b ""'],
  ]; // oxfmt-ignore
  for (const [marked, expected] of cases) {
    it(JSON.stringify(marked), () => assert.equal(slotAt(marked), expected));
  }

  it('a sketch has all keys of a whole file', () => {
    const read = sketch(wholeFormat);
    const keys = (box: SketchBox | undefined): string[] => box?.entries.map(({ key }) => key) ?? [];
    assert.deepEqual(keys(read.box([])), ['version', 'servers']);
    assert.deepEqual(keys(read.box(['servers'])), ['playwright', 'search']);
    assert.deepEqual(keys(read.box(['servers', 'search'])), [
      'transport',
      'url',
      'headers',
      'sessionId',
      'oauth',
      'prompts',
      'resources',
    ]);
    assert.deepEqual(keys(read.box(['servers', 'playwright', 'env', 'TOKEN'])), ['env']);
    const [, servers] = read.box([])?.entries ?? [];
    const [playwright] = servers?.child?.entries ?? [];
    assert.match(
      wholeFormat.slice(playwright?.keySpan.start, playwright?.end),
      /^playwright:[^]*idle: 900000 \}$/,
    );
  });

  it('a key below a half-typed one stays a key of its own', () => {
    const read = sketch('servers:\n  a:\n    tra\n    command: npx\n    args: [x]\n');
    assert.deepEqual(
      read.box(['servers', 'a'])?.entries.map(({ key }) => key),
      ['command', 'args'],
    );
  });

  it('a sketch of any text at any place does not throw, and its spans are inside the text', () => {
    const scraps = ['\n', '\r\n', '  ', '- ', ': ', 'a', 'servers:', '{', '}', '[', ']', ',', "'", '"', '#', '&x ', '*x', '|', '? '];
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...scraps), fc.string({ maxLength: 3 })), { maxLength: 30 }), fc.nat(), (parts, at) => {
        const text = parts.join('');
        const cursor = at % (text.length + 1);
        const { slot } = sketch(text, cursor);
        if (slot) assert.ok(slot.span.start >= 0 && slot.span.start <= cursor && cursor <= slot.span.end && slot.span.end <= text.length);
      }),
      { numRuns: 500 },
    );
  }); // oxfmt-ignore
});
