import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Place, Range } from '../../../../src/core/base/problem.js';
import type { ParsedSource } from '../../../../src/core/config/model.js';
import { parseMcprc } from '../../../../src/core/config/read/mcprc.js';
import { configDeps, parse, wholeFormat } from '../fixtures.js';

/** Fails if any promise of a parsed source is broken, for whatever text. */
function assertSound(parsed: ParsedSource, text: string): void {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  const within = ({ start, end }: Range): void => {
    assert.ok(
      start.line < end.line || (start.line === end.line && start.character <= end.character),
      'not backwards',
    );
    for (const { line, character } of [start, end]) {
      assert.ok(line >= 0 && line < lines.length, `line ${line} of ${lines.length}`);
      assert.ok(
        character >= 0 && character <= (lines[line]?.length ?? 0),
        `character ${character} of line ${line}`,
      );
    }
  };
  const check = (place: Place): void => within(place.range);
  for (const { place, message, fix, related } of parsed.problems) {
    check(place);
    assert.ok(message.length > 0 && message.length < 600, message);
    assert.ok(fix.length > 0);
    for (const other of related ?? []) check(other.place);
  }
  const errors = parsed.problems.filter(({ severity }) => severity === 'error');
  if (parsed.kind === 'refused') {
    assert.ok(errors.length > 0, 'a refusal says why');
    return;
  }
  const seen = new Set<string>();
  for (const server of parsed.servers) {
    assert.ok(!seen.has(server.id), 'ids are unique');
    seen.add(server.id);
    const blamed = errors.some((problem) => problem.server === server.id);
    const isWrong = server.kind === 'invalid' && server.enabled;
    assert.equal(
      blamed,
      isWrong,
      'invalid entries that are to start have an error, all others have none',
    );
    const places = server.kind === 'valid' ? server.definition.places : server.places;
    check(places.key);
    for (const path of [
      [],
      ['env', 'A'],
      ['args', 0],
      ['tools', 'whitelist', 0],
      ['transform', 1, 'prefix', 'add'],
    ]) {
      check(places.value(path));
      check(places.keyAt(path));
    }
  }
}

const lineBreaks = ['\n', '\r\n', '\r'];
const scraps = [
  ...lineBreaks, ' ', '  ', '\t', ':', ': ', '- ', '? ', '#', ' # c', "'", '"', '|', '>-', '&a ', '*a', '<<: *a', '!!str ', '!x ',
  '{', '}', '[', ']', ',', '---', '...', '%YAML 1.1', '~', 'null', 'true', '1', '0x1F', '.inf', '30s', '\\', '\0', '\uFEFF', '\uD800', '𝒩',
  'version: 1\n', 'servers:\n', '  a:\n', '    transport: stdio\n', '    command: npx\n', '    env: { A: { env: B } }\n',
  'x-a: &a { b: c }\n', '__proto__', 'constructor: ', '@', '`', '%',
]; // oxfmt-ignore

describe('any text as a config file (C4)', () => {
  it('any text is parsed without a throw, with places inside it', () => {
    const texts = fc.array(fc.oneof(fc.constantFrom(...scraps), fc.string({ maxLength: 4 })), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(texts, (parts) => assertSound(parse(parts.join('')), parts.join(''))),
      { numRuns: 600 },
    );
  });

  it('a valid file with a few slips of the pen parses without throwing', () => {
    const slip = fc.record({
      at: fc.nat({ max: wholeFormat.length }),
      drop: fc.nat({ max: 12 }),
      insert: fc.constantFrom('', ...scraps),
    });
    const texts = fc.tuple(fc.array(slip, { maxLength: 4 }), fc.constantFrom(...lineBreaks));
    fc.assert(
      fc.property(texts, ([slips, lineBreak]) => {
        let text = wholeFormat;
        for (const { at, drop, insert } of slips)
          text = text.slice(0, at) + insert + text.slice(at + drop);
        text = text.replaceAll('\n', lineBreak);
        assertSound(parse(text), text);
      }),
      { numRuns: 150 },
    );
  });

  it('a file cut off anywhere, as during typing, parses without throwing', () => {
    for (let end = 0; end <= wholeFormat.length; end += 3) {
      const text = wholeFormat.slice(0, end);
      assertSound(parse(text), text);
    }
  });

  it('any values at known keys are parsed without a throw', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const key = fc.constantFrom(
      ...[
        'enabled',
        'truely-stateless',
        'command',
        'args',
        'cwd',
        'env',
        'url',
        'headers',
        'sessionId',
        'oauth',
        'tools',
      ],
      ...['transform', 'timeouts', 'prompts', 'resources', 'transport'],
    );
    const entry = fc.dictionary(key, value, { maxKeys: 6 });
    const transport = fc.constantFrom('stdio', 'streamable_http', 'sse');
    fc.assert(
      fc.property(entry, transport, (body, kind) => {
        const settings = { transport: kind, command: 'x', url: 'http://x', ...body };
        const text = JSON.stringify({ version: 1, servers: { a: settings } }, null, 1);
        assertSound(parse(text), text);
      }),
      { numRuns: 200 },
    );
  });

  const deep = 20_000;
  const bombs: readonly [string, string][] = [
    ['nested lists', '['.repeat(deep)],
    ['nested and closed lists', `version: 1\nx: ${'['.repeat(deep)}${']'.repeat(deep)}`],
    ['nested maps', `version: 1\nx: ${'{a: '.repeat(2_000)}`],
    ['nested merges', `version: 1\nservers: { a: ${'{<<: '.repeat(60)}{}${'}'.repeat(60)} }`],
    ['long lines', `version: 1\nservers:\n  a: ${'x'.repeat(1_000_000)}`],
    [
      'many unknown keys',
      `version: 1\n${Array.from({ length: 2_000 }, (_, index) => `k${index}: 1\n`).join('')}`,
    ],
    [
      'many servers',
      `version: 1\nservers:\n${Array.from({ length: 1_000 }, (_, index) => `  k${index}: {}\n`).join('')}`,
    ],
    [
      'merges of merges',
      `version: 1\nx: &a0 { k: v }\n${Array.from({ length: 14 }, (_, index) => `x${index}: &a${index + 1} { <<: [${`*a${index}, `.repeat(9)}*a${index}] }\n`).join('')}`,
    ],
    [
      'duplicates that are merged over and over',
      `version: 1\nx-a: &a {${'a,'.repeat(30_000)}}\nx-b: &b {<<: [*a, *a, *a, *a, *a]}\nservers: { c: {<<: *b} }\n`,
    ],
    [
      'unknown keys for many servers',
      `version: 1\nx-a: &a {${Array.from({ length: 140 }, (_, index) => `k${index}`).join()}}\nservers:\n${Array.from({ length: 300 }, (_, index) => `  k${index}: *a\n`).join('')}`,
    ],
    [
      'unknown aliases below many anchors',
      `version: 1\nx: [${Array.from({ length: 8_000 }, (_, index) => `&a${index} 1`).join()}]\ny: [${Array.from({ length: 8_000 }, (_, index) => `*b${index} `).join()}]\n`,
    ],
    [
      'one list for many servers',
      `version: 1\nx: &a [${'word, '.repeat(5_000)}word]\nservers:\n${Array.from({ length: 200 }, (_, index) => `  k${index}: { transport: stdio, command: x, args: *a }\n`).join('')}`,
    ],
  ];
  for (const [name, text] of bombs) {
    it(`a large and hostile file parses in time: ${name}`, () => assertSound(parse(text), text));
  }

  it('a text with too many tokens is refused before it is read', () => {
    for (const text of ['[]'.repeat(60_000), '- x\n'.repeat(30_000), '\n'.repeat(200_000)]) {
      const parsed = parse(text);
      assertSound(parsed, text);
      assert.equal(parsed.kind, 'refused');
      assert.match(parsed.problems[0]?.message ?? '', /^The file has more than 100,000 tokens/);
    }
    const large = `version: 1\nservers:\n  a:\n    transport: stdio\n    command: x\n    args:\n${'      - y\n'.repeat(15_000)}`;
    assert.equal(parse(large).kind, 'accepted');
  });

  it('a file with too large an expansion of aliases is refused', () => {
    const servers = (count: number): string =>
      Array.from(
        { length: count },
        (_, index) => `  s${index}: { transport: stdio, command: x, args: *a }\n`,
      ).join('');
    const text = (count: number): string =>
      `version: 1\nx-args: &a [${'a,'.repeat(999)}]\nservers:\n${servers(count)}`;
    assert.equal(parse(text(100)).kind, 'accepted');
    const parsed = parse(text(101));
    assertSound(parsed, text(101));
    assert.equal(parsed.kind, 'refused');
    assert.match(
      parsed.problems[0]?.message ?? '',
      /^The aliases .* more than 100,000 keys and values together\.$/,
    );
  });

  it('of more than 500 servers, the first 500 are read and a problem names the next one (S2a)', () => {
    const text = (count: number): string =>
      `version: 1\nx-a: &a { transport: stdio, command: x }\nservers:\n${Array.from({ length: count }, (_, n) => `  s${n}: *a\n`).join('')}`;
    assert.deepEqual(parse(text(500)).problems, []);
    const parsed = parse(text(11_000));
    assert.ok(parsed.kind === 'accepted');
    assert.equal(parsed.servers.length, 500);
    const [problem, ...others] = parsed.problems;
    assert.deepEqual(
      [problem?.code, problem?.place.range.start.line, others],
      ['too-many-servers', 503, []],
    );
    assert.match(problem?.message ?? '', /11,000 servers/);
    const json = JSON.stringify(
      Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`s${n}`, { command: 'x' }])),
    );
    const mcprc = parseMcprc(
      { file: '/ws/.mcprc', folder: '/ws', origin: 'mcprc', text: json },
      configDeps,
    );
    assert.deepEqual(
      mcprc.problems.map(({ code }) => code),
      ['too-many-servers'],
    );
  });

  it('a file has at most 500 problems beside the first error of each server, and one with the number of the rest', () => {
    const keys = Array.from({ length: 140 }, (_, index) => `k${index}`);
    const text = `version: 1\nx-a: &a {${keys.join()}}\nservers:\n${keys.map((id) => `  ${id}: *a\n`).join('')}`;
    const { problems } = parse(text);
    const [leftOut, ...rest] = problems;
    const errors = rest.filter(({ severity }) => severity === 'error');
    assert.equal(leftOut?.code, 'problems-left-out');
    assert.equal(leftOut.message, 'The file has 19,103 more problems, which are not shown.');
    assert.deepEqual([errors.length, rest.length], [140, 637]);
  });

  it('too many or too long steps of a transform cost their server', () => {
    const entry = (transform: string): string =>
      `version: 1\nservers: { a: { transport: stdio, command: x, transform: ${transform} } }`;
    const steps = (count: number): string => `[${'{ prefix: a }, '.repeat(count)}]`;
    const rows: [string, string, RegExp | undefined][] = [
      ['as many steps as may be', steps(20), undefined],
      ['one more', steps(21), /^`transform` must be a list of at most 20 steps; found 21\.$/],
      [
        'a long prefix',
        `[{ prefix: ${'a'.repeat(1025)} }]`,
        /^`prefix` must be a text of at most 1024 char.*found one of 1,025/,
      ],
    ];
    for (const [what, transform, expected] of rows) {
      const parsed = parse(entry(transform));
      assertSound(parsed, entry(transform));
      const [problem] = parsed.problems;
      if (expected) assert.match(problem?.message ?? '', expected, what);
      else assert.equal(problem, undefined, what);
    }
  });

  it('servers are in file order, even with numbers as ids (N6)', () => {
    const entry = '{ transport: stdio, command: npx }';
    const parsed = parse(`version: 1\nservers: { b: ${entry}, 10: ${entry}, '2': ${entry} }\n`);
    assert.deepEqual(parsed.kind === 'accepted' && parsed.servers.map(({ id }) => id), [
      'b',
      '10',
      '2',
    ]);
  });

  it('the deepest permitted nesting and the longest permitted chain are read', () => {
    const links = Array.from({ length: 16 }, (_, index) => {
      const inner = index === 0 ? '{}' : `*a${index - 1}`;
      return `x-${index}: &a${index} ${'{<<: '.repeat(60)}${inner}${'}'.repeat(60)}\n`;
    });
    const text = `version: 1\n${links.join('')}servers: { a: { <<: *a15, transport: stdio, command: npx } }\n`;
    const parsed = parse(text);
    assertSound(parsed, text);
    assert.equal(parsed.kind, 'accepted');
  });
});

describe('a problem of YAML', () => {
  for (const value of [
    '*hunter2',
    '!hunter2',
    '!hunter2 x',
    '!<hunter2',
    '!!hunter2 x',
    '!e!hunter2 x',
    '!hunter2! x',
    '"\\Uhunter2s"',
    '@hunter2',
    '%hunter2',
    '|hunter2',
    'a: hunter2',
  ])
    it(`no problem quotes a possible secret: ${value} (E4)`, () => {
      for (const env of [`\n      TOKEN: ${value}`, `{ TOKEN: ${value} }`]) {
        const { problems } = parse(
          `version: 1\nservers:\n  a:\n    transport: stdio\n    command: npx\n    env: ${env}\n`,
        );
        assert.ok(problems.length > 0);
        for (const { message, fix } of problems) assert.doesNotMatch(message + fix, /hunter/);
      }
    });
});

describe('headers that belong to the protocol (X2b)', () => {
  it('a header of the transport is left out with a warning at its name, and the server starts', () => {
    const names = [
      'Accept',
      'content-type',
      'HOST',
      'Transfer-Encoding',
      'Mcp-Session-Id',
      'MCP-Protocol-Version',
    ];
    names.push('Accept-Encoding', 'Mcp-Foo', 'Range', 'If-None-Match');
    for (const name of names) {
      const text = `version: 1\nservers:\n  a:\n    transport: streamable_http\n    url: https://a.test/\n    headers: { X-Own: y, ${name}: x }\n`;
      const parsed = parse(text);
      assert.ok(parsed.kind !== 'refused');
      const [server] = parsed.servers;
      assert.ok(
        server?.kind === 'valid' && server.definition.launch.transport === 'streamable_http',
      );
      assert.deepEqual([...server.definition.launch.headers.keys()], ['X-Own']);
      const found = parsed.problems.map(({ code, severity, place }) => [
        code,
        severity,
        place.range.start,
      ]);
      assert.deepEqual(found, [
        ['header-invalid', 'warning', { line: 5, character: text.split('\n')[5]?.indexOf(name) }],
      ]);
    }
  });
});

describe('a command that is an address', () => {
  for (const address of ['http://127.0.0.1:39001/mcp', 'HTTPS://example.com/mcp']) {
    it(`an address as command is a problem without a start: ${address}`, () => {
      const { problems } = parse(
        `version: 1\nservers:\n  a:\n    transport: stdio\n    command: ${address}\n`,
      );
      assert.deepEqual(
        problems.map(({ code, message, place }) => [code, message, place.range.start.line]),
        [['wrong-type', '`command` must be a program; found an address.', 4]],
      );
      assert.match(problems[0]?.fix ?? '', /transport: streamable_http/);
    });
  }
});
