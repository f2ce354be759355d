import assert from 'node:assert/strict';
import { lineDifference } from '../../../src/cli/lineDifference.js';

describe('difference of lines', () => {
  const of = (before: string, after: string): string[] =>
    lineDifference(before, after, 'f').split('\n');

  it('is empty for equal texts', () => assert.equal(lineDifference('a\n', 'a\n', 'f'), ''));

  it('shows removed and added lines with their position', () => {
    assert.deepEqual(of('a\nb\nc\n', 'a\nx\ny\nc\n'), [
      '--- f',
      '+++ f',
      '@@ -2,1 +2,2 @@',
      '-b',
      '+x',
      '+y',
    ]);
    assert.deepEqual(of('a\nc\n', 'a\nb\nc\n').slice(2), ['@@ -1,0 +2,1 @@', '+b']);
    assert.deepEqual(of('a\nb\n', 'a\n').slice(2), ['@@ -2,1 +1,0 @@', '-b']);
    assert.deepEqual(of('', 'a\n'), ['--- /dev/null', '+++ f', '@@ -0,0 +1,1 @@', '+a']);
  });

  it('shows no lines only because one text has a byte order mark', () => {
    assert.deepEqual(of('\ufeffa\nb\n', 'a\nb\nc\n').slice(2), ['@@ -2,0 +3,1 @@', '+c']);
    assert.deepEqual(of('\ufeffa\n', 'a\n'), ['']);
  });

  it('shows no context, and no secret of a moved line (E4)', () => {
    const entry = '  "theirs": { "env": { "API_KEY": "canary-5ca1ab1e" } }';
    const before = `{\n  "first": "canary-5ca1ab1e",\n${entry}\n}\n`;
    const shown = of(
      before,
      before.replace(entry, `${entry},\n  "ours": { "token": "\${TOKEN}" }`),
    ).join('\n');
    assert.doesNotMatch(shown, /canary|first/);
    assert.match(shown, /"theirs".*•••/);
    assert.match(shown, /^\+ {2}"ours": \{ "token": "\$\{TOKEN\}" \}$/m);
  });

  const ours = '"ours": { "command": "node", "args": ["--token-file", "/home/ada/ws.token"] }';

  for (const [name, before, at] of [
    [
      'JSON',
      '{"theirs":{"env":{"API_KEY":"canary-5ca1ab1e","DB_PASSWORD":9021090210,"PASSWORD":"x1y2"}}}\n',
      '}\n',
    ],
    [
      'YAML',
      'theirs: { env: { API_KEY: canary-5ca1ab1e, DB_PASSWORD: 9021090210, PASSWORD: x1y2 } }\n',
      ' }\n',
    ],
    [
      'TOML',
      'theirs = { env = { API_KEY = "canary-5ca1ab1e", DB_PASSWORD = 9021090210, PASSWORD = "x1y2" } }\n',
      ' }\n',
    ],
    [
      'JSON with an escape',
      '{"theirs":{"API_KEY":"x1y2\\"canary-5ca1ab1e","DB_PASSWORD":9021090210}}\n',
      '}\n',
    ],
    [
      'a secret that the line before announces',
      '{\n"first": 1,\n"args": [\n"--password",\n"canary-5ca1ab1e" ], "x":{}}\n',
      '}\n',
    ],
  ] as const) {
    it(`shows no secret of a changed line (E4): ${name}`, () => {
      const place = before.lastIndexOf(at);
      const shown = of(before, `${before.slice(0, place)}, ${ours}${before.slice(place)}`).join(
        '\n',
      );
      assert.doesNotMatch(shown, /canary|5ca1|9021090210|x1y2/);
      assert.match(shown, /^-.*•••/m);
      assert.match(shown, /^\+.*•••/m);
      assert.ok(shown.includes(ours), shown);
    });
  }

  it('shows a whole reference, even if another one has replaced a secret', () => {
    const server = (id: string): string =>
      `  ${id}: { command: x, args: ['--token', { env: ${id}_TOKEN }] }\n`;
    const before = `servers:\n${server('A')}`;
    assert.deepEqual(of(before, before + server('B')).slice(3), [`+${server('B').trimEnd()}`]);
  });

  it('shows no secret that has moved (E4)', () => {
    for (const [before, after] of [
      ['a: { API_KEY: canary-5ca1ab1e }\n', 'b:\n  args: [canary-5ca1ab1e]\n'],
      ['{"API_KEY":8675309867530942}\n', '{\n  "API_KEY": 8675309867530942\n,"x":{}}\n'],
    ] as const) {
      assert.doesNotMatch(of(before, after).join('\n'), /canary|86753/);
    }
  });
});
