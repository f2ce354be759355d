import assert from 'node:assert/strict';
import { commandWords, hasArguments } from '../../../../src/core/base/commandWords.js';
import {
  validateCommand,
  validateId,
  newEntry,
  validatePackage,
  suggestedId,
  validateUrl,
} from '../../../../src/core/config/edit/newServer.js';

describe('a new server, step by step', () => {
  it('a command line splits into words by the quotes of a shell and no other syntax', () => {
    assert.deepEqual(commandWords(' npx  -y "a b" c\'d e\'f "say \\"x\\"" $HOME '), [
      'npx',
      '-y',
      'a b',
      'cd ef',
      'say "x"',
      '$HOME',
    ]);
    assert.deepEqual(commandWords("x ''"), ['x', '']);
    assert.equal(commandWords('x "y'), undefined);
    assert.deepEqual(newEntry('command', 'node server.js --port 1'), {
      transport: 'stdio',
      command: 'node',
      args: ['server.js', '--port', '1'],
    });

    it('a program with arguments differs from a path with spaces', () => {
      for (const line of ['npx -y foo', ' node  server.js', 'npx "x', 'uvx a b'])
        assert.ok(hasArguments(line), line);
      for (const line of [
        'npx',
        ' npx ',
        'C:\\Program Files\\node.exe',
        './my server',
        '/opt/a b/c d',
        '"my server" x',
      ]) {
        assert.ok(!hasArguments(line), line);
      }
    });
  });

  it('each step names its mistake', () => {
    for (const fault of [
      validateCommand(''),
      validateCommand('a "b'),
      validateCommand('https://x'),
    ])
      assert.ok(fault);
    for (const text of ['', 'x', 'ftp://x', 'https://me:secret@x'])
      assert.ok(validateUrl(text), text);
    for (const text of ['', 'Two Words', '@a', '../x']) assert.ok(validatePackage(text), text);
    for (const id of ['', 'a b', 'mcp_admin', 'taken', 'x'.repeat(65)])
      assert.ok(validateId(id, new Set(['taken'])), id);
    assert.equal(validateCommand('npx -y x'), undefined);
    assert.equal(validateUrl('http://127.0.0.1:3000/mcp'), undefined);
    for (const text of ['x', '@a/b', '@a/b@latest', 'x@1.2.3'])
      assert.equal(validatePackage(text), undefined, text);
  });

  for (const [kind, text, id] of [
    ['package', '@modelcontextprotocol/server-memory', 'memory'],
    ['package', '@playwright/mcp@latest', 'playwright'],
    ['command', 'npx -y @modelcontextprotocol/server-filesystem .', 'filesystem'],
    ['command', 'node ./dist/weather-server.js', 'weather'],
    ['command', 'uvx mcp-server-fetch', 'fetch'],
    ['command', '/opt/tools/notes', 'notes'],
    ['url', 'https://mcp.linear.app/mcp', 'linear'],
    ['url', 'http://localhost:3000/mcp', 'localhost'],
    ['package', 'mcp', 'server'],
    ['package', 'taken', 'taken-2'],
  ] as const) {
    it(`the suggested id for ${text} is ${id}`, () =>
      assert.equal(suggestedId(kind, text, new Set(['taken'])), id));
  }
});
