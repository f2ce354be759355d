/** Edits of a layer in place of an edit of the file below it (C7). */
import assert from 'node:assert/strict';
import { tickTools } from '../../../../src/core/authoring/toolLists.js';
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
      return (
        made && [applyEdits(text, made.shared), applyEdits(local ?? '', made.local)].join('---\n')
      );
    };

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
      [
        'a key that other servers share',
        ['a', 'env'],
        'version: 1\nservers:\n  a: &a\n    command: x\n    env: { A: b }\n  b: *a\n',
      ],
      ['a value that is null', ['web', 'cwd'], `${shared}    cwd:\n`],
      ['a text with errors', ['web', 'enabled'], `${shared}x: [`],
    ] as const)
      // oxfmt-ignore
      it(`is not possible for ${what}`, () => assert.equal(moved(path, undefined, text), undefined));
  });

  it('an edit that is impossible below is impossible in the layer', () => {
    assert.equal(
      after(undefined, 'files', () => undefined),
      undefined,
    );
    assert.equal(after('version: 1\nservers: [', 'files', enabled('files', false)), undefined);
  });
});
