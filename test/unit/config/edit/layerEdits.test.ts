/** Edits of a layer in place of an edit of the file below it (C7). */
import assert from 'node:assert/strict';
import { tickTools } from '../../../../src/core/authoring/toolLists.js';
import { asMindsText } from '../../../../src/core/config/read/mcprc.js';
import { editsForMe, inLayer, movedToLayer } from '../../../../src/core/config/edit/layerEdits.js';
import { addOverride, setEnabled } from '../../../../src/core/config/edit/serverEdits.js';
import { applyEdits, type Edits } from '../../../../src/core/yaml/edits.js';

const shared = `version: 1
servers:
  files:
    transport: stdio
    command: npx
    tools:
      blacklist: ['write_*']
  web:
    transport: streamable_http
    url: https://example.com/mcp
    enabled: false
`;

function after(
  local: string | undefined,
  id: string,
  editsOf: (text: string) => Edits,
): string | undefined {
  const made = editsForMe({ shared, local }, id, editsOf);
  return made && applyEdits(local ?? '', made);
}

const enabled =
  (id: string, value: boolean) =>
  (text: string): Edits =>
    setEnabled(text, id, value);

describe('edits of a layer (C7)', () => {
  it('the first edit makes the file, and further ones add to it', () => {
    const first = after(undefined, 'files', enabled('files', false));
    assert.equal(first, 'version: 1\n\nservers:\n  files:\n    enabled: false\n');
    assert.equal(
      after(first, 'web', enabled('web', true)),
      'version: 1\n\nservers:\n  files:\n    enabled: false\n  web:\n    enabled: true\n',
    );
  });

  it('a value that the file below has anyway leaves the layer, and comments stay', () => {
    const local =
      '# mine\nversion: 1\nservers:\n  web: # on\n    enabled: true\n    timeouts: { call: 5m }\n';
    assert.equal(
      after(local, 'web', enabled('web', false)),
      '# mine\nversion: 1\nservers:\n  web: # on\n    timeouts: { call: 5m }\n',
    );
  });

  it('an entry that is enabled by default needs no value in the layer', () => {
    const off = after(undefined, 'files', enabled('files', false));
    assert.doesNotMatch(after(off, 'files', enabled('files', true)) ?? 'enabled', /enabled/);
  });

  it('a tick begins with the lists that count, and a list replaces the list', () => {
    const untick = (tool: string) => (text: string) =>
      tickTools(text, 'files', ['read', 'list', 'write_file'], new Map([[tool, false]]))?.edits;
    const first = after(undefined, 'files', untick('read'));
    assert.match(first ?? '', /blacklist: \['?write_\*'?, '?read'?\]/);
    const second = after(first, 'files', untick('list'));
    assert.match(second ?? '', /blacklist: \['?write_\*'?, '?read'?, '?list'?\]/);
    assert.equal(second?.match(/blacklist/g)?.length, 1);
  });

  it('a key that an edit removes is taken away with null', () => {
    const made = after(undefined, 'files', (text) => {
      const at = text.indexOf('    tools:');
      return [{ span: { start: at, end: text.length }, text: '' }];
    });
    assert.match(made ?? '', /tools: null/);
  });

  it('an edit of the file below is made in the layer instead', () => {
    const made = addOverride(shared, 'files', ['read', 'description'], '"Short."');
    const local = inLayer({ shared, local: undefined }, made ?? []);
    assert.equal(
      applyEdits('', local ?? []).replace(/\s+/g, ' '),
      'version: 1 servers: files: tools: { override: { read: { description: Short. } } } ',
    );
  });

  describe('a move into the layer', () => {
    const moved = (path: readonly string[], local?: string, text = shared) => {
      const made = movedToLayer({ shared: text, local }, path);
      if (typeof made !== 'object') return made;
      return [applyEdits(text, made.shared), applyEdits(local ?? '', made.local)].join('---\n');
    };
    const local = (text = '') => text.slice(text.indexOf('---\n') + 4);
    const commented = `version: 1
servers:
  # about files
  files: # mine
    # how it starts
    transport: stdio
    command: npx

    args: # in order
      - -y
      # the name
      - files # last
    tools: { blacklist: [x] } # short
    x: |
      one # no comment

        two
  # about web
  web: { transport: streamable_http, # over HTTP
    url: 'https://example.com/#a' }
`;

    it('keeps the comments, the order and the style of an entry, in a new file', () => {
      const entry = commented.slice(
        commented.indexOf('  files:'),
        commented.indexOf('  # about web'),
      );
      assert.equal(
        local(moved(['files'], undefined, commented)),
        `version: 1\n\nservers:\n${entry}`,
      );
      assert.match(
        moved(['files'], undefined, commented) ?? '',
        /^version: 1\nservers:\n {2}# about files\n {2}# about web/,
      );
    });

    it('keeps the comments of a key, at any depth and with any indentation and line break', () => {
      const args = 'args: # in order\n  - -y\n  # the name\n  - files # last\n';
      const at = (indent: string) => args.replace(/^(?=.)/gm, indent);
      const move = (text?: string) => local(moved(['files', 'args'], text, commented));
      assert.equal(move(), `version: 1\n\nservers:\n  files:\n${at('    ')}`);
      const head = 'servers:\n      files:\n';
      const deep = `${head}            # here\n            cwd: sub\n`;
      const expected = deep.replace(head, head + at(' '.repeat(12)));
      assert.equal(move(deep), expected);
      assert.equal(move(deep.replaceAll('\n', '\r\n')), expected.replaceAll('\n', '\r\n'));
      const fromCrlf = moved(['files', 'args'], deep, commented.replaceAll('\n', '\r\n'));
      assert.equal(local(fromCrlf), expected);
      const lists = commented.replace(
        '{ blacklist: [x] } # short',
        '\n      blacklist: # never\n        - x',
      );
      assert.match(
        local(moved(['files', 'tools', 'blacklist'], undefined, lists)),
        /\n {4}tools:\n {6}blacklist: # never\n {8}- x\n$/,
      );
      assert.match(local(moved(['files', 'x'], deep, commented)), /one # no comment\n\n {16}two\n/);
      assert.match(
        local(moved(['web'], undefined, commented)),
        / {2}web: \{ transport: streamable_http, # over HTTP\n {4}url: 'https/,
      );
    });

    it('adds an entry to one of the layer, whose values stay', () => {
      const lists = '    args: [a]\n    tools:\n      # never\n      blacklist: [x]\n';
      const text = commented.replace(' # mine', '').replace(/ {4}args:[^]*?(?= {4}x)/, lists);
      const mine =
        'version: 1\nservers:\n  files:\n    # slow\n    args: [other]\n    tools:\n      whitelist: [y]\n';
      assert.equal(
        local(moved(['files'], mine, text)),
        `version: 1
servers:
  files:
    # how it starts
    transport: stdio
    command: npx
    x: |
      one # no comment

        two
    # slow
    args: [other]
    tools:
      # never
      blacklist: [x]
      whitelist: [y]
`,
      );
    });

    it('writes the value of an alias', () => {
      const text =
        'x-env: &env { A: b }\nservers:\n  a:\n    command: x\n    env: *env\n  b: { <<: *env }\n';
      assert.match(local(moved(['a'], undefined, text)), /command: x\n {4}env:\n {6}A: b\n$/);
      assert.match(local(moved(['b'], undefined, text)), /b:\n {4}A: b\n$/);
    });

    for (const [what, path, text, mine, why] of [
      [
        'an anchor is in it',
        ['a'],
        'servers:\n  a: { env: &e { A: b } }\n  b: { env: *e }\n',
        undefined,
        /anchor/,
      ],
      [
        'another server shares it',
        ['a', 'env'],
        'servers:\n  a: &a\n    command: x\n    env: { A: b }\n  b: *a\n',
        undefined,
        /Another server/,
      ],
      [
        'a comment is beside an alias',
        ['a'],
        'x: &x { A: b }\nservers:\n  a:\n    env: *x # mine\n',
        undefined,
        /comments would be lost/,
      ],
      [
        'the layer has no place for a comment',
        ['a', 'env'],
        'servers:\n  a:\n    env: # mine\n      A: b\n',
        'servers: { a: { command: x } }\n',
        /comments would be lost/,
      ],
    ] as const)
      // oxfmt-ignore
      it(`says why it is impossible if ${what}`, () => assert.match(moved(path, mine, text) ?? '', why));

    it('takes a key from the file below, at any depth', () => {
      assert.equal(
        moved(['web', 'enabled']),
        `${shared.replace('    enabled: false\n', '')}---\nversion: 1\n\nservers:\n  web:\n    enabled: false\n`,
      );
      assert.match(moved(['files', 'tools', 'blacklist']) ?? '', /---[^]*tools:\s+\{? ?blacklist/);
    });

    it('takes a whole entry', () => {
      const [rest = '', local = ''] = moved(['web'])?.split('---\n') ?? [];
      assert.equal(rest, shared.slice(0, shared.indexOf('  web:')));
      assert.match(local, /web:\s+transport: streamable_http[^]*enabled: false/);
    });

    it('keeps what the layer has', () => {
      const local = 'version: 1\nservers:\n  web: { enabled: true, timeouts: { call: 5m } }\n';
      assert.match(
        moved(['web', 'enabled'], local) ?? '',
        /---\n.*\n.*\n {2}web: \{ enabled: true, timeouts: \{ call: 5m \} \}\n$/,
      );
      assert.match(moved(['web'], local) ?? '', /---[^]*enabled: true[^]*|timeouts/);
    });

    for (const [what, path, text] of [
      ['a key that is not there', ['web', 'cwd'], shared],
      [
        'a key of another server, by an alias',
        ['b', 'command'],
        'version: 1\nservers:\n  a: &a { transport: stdio, command: x }\n  b: *a\n',
      ],
      ['a value that is null', ['web', 'cwd'], `${shared}    cwd:\n`],
      ['a text with errors', ['web', 'enabled'], `${shared}x: [`],
    ] as const)
      // oxfmt-ignore
      it(`is not possible for ${what}`, () => assert.equal(moved(path, undefined, text), undefined));
  });

  it('an entry of `.mcprc` counts in our words, with its lists', () => {
    const text =
      '{ "mcpServers": { "old": { "type": "stdio", "command": "x", "disabled": true, "tools": { "blacklist": ["a"] } } } }';
    const made = (editsOf: (text: string) => Edits): string =>
      applyEdits(
        '',
        editsForMe({ shared: asMindsText(text), local: undefined }, 'old', editsOf) ?? [],
      );
    assert.match(made(enabled('old', true)), /old:\n {4}enabled: true\n$/);
    const untick = (now: string) =>
      tickTools(now, 'old', ['a', 'b', 'c'], new Map([['b', false]]))?.edits;
    assert.match(made(untick), /old:\n {4}tools: \{ blacklist: \[a, b\] \}\n$/);
    assert.equal(asMindsText('{ "servers": ['), '{"servers":{}}');
  });

  it('an edit that is impossible below is impossible in the layer', () => {
    assert.equal(
      after(undefined, 'files', () => undefined),
      undefined,
    );
    assert.equal(after('version: 1\nservers: [', 'files', enabled('files', false)), undefined);
  });
});
