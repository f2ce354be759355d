import assert from 'node:assert/strict';
import { redactedConfig } from '../../../../src/core/config/edit/redactedConfig.js';

const canary = 'canary-5ca1ab1e';

/** Each place of a file for a possible secret. */
const places: Record<string, string> = {
  comment: `version: 1 # ${canary}\nservers: {}`,
  env: `servers: { a: { env: { TOKEN: ${canary} } } }`,
  'env under a wrong key': `servers: { a: { env: { TOKEN: { value: ${canary} } } } }`,
  'env as a list': `servers: { a: { env: [ TOKEN=${canary} ] } }`,
  'the prefix of a header': `servers: { a: { headers: { A: { prefix: ${canary}, env: TOKEN } } } }`,
  header: `servers: { a: { headers: { Authorization: 'Bearer ${canary}' } } }`,
  'a name that is none': `servers: { a: { env: { TOKEN: { env: ${canary} } } } }`,
  sessionId: `servers: { a: { sessionId: ${canary} } }`,
  'credentials of a URL': `servers: { a: { url: 'https://me:${canary}@example.com/mcp' } }`,
  'query of a URL': `servers: { a: { url: 'https://example.com/mcp?anything=${canary}' } }`,
  'fragment of a URL': `servers: { a: { url: 'https://example.com/mcp#${canary}' } }`,
  'path of a URL': `servers: { a: { url: 'https://example.com/s/${canary}4711/mcp' } }`,
  'no URL': `servers: { a: { url: '${canary}' } }`,
  'a misspelt key': `servers: { a: { sesionId: ${canary} } }`,
  'an unknown map': `servers: { a: { secrets: { TOKEN: ${canary} } } }`,
  'an option': `servers: { a: { args: ['--api-key', ${canary}] } }`,
  'an option with its value': `servers: { a: { args: ['--token=${canary}'] } }`,
  'a header as an argument': `servers: { a: { args: ['--header', 'Authorization: ${canary}'] } }`,
  'an address as an argument': `servers: { a: { args: ['postgres://me:${canary}@host/db'] } }`,
  'an argument that looks random': `servers: { a: { args: ['${canary}deadbeef'] } }`,
  'a variable as an argument': `servers: { a: { args: ['-e', 'MY_TOKEN=${canary}'] } }`,
  'the text around a reference in an argument': `servers: { a: { args: [{ prefix: ${canary}, env: NAME }] } }`,
  'the default of a reference in an address': `servers: { a: { url: { env: NAME, default: ${canary} } } }`,
  'arguments that are no list': `servers: { a: { args: ${canary} } }`,
  'another program’s file': `{ "mcpServers": { "a": { "command": "npx", "env": { "TOKEN": "${canary}" } } } }`,
  'a flat file': `{ "a": { "command": "npx", "env": { "TOKEN": "${canary}" } } }`,
  'a key beside the servers': `version: ${canary}`,
  'servers that are none': `servers: ${canary}`,
  'a server that is none': `servers: { a: ${canary} }`,
};

describe('redactedConfig (E4)', () => {
  for (const [where, text] of Object.entries(places)) {
    it(`a redacted config file shows no secret: ${where}`, () => {
      const shown = redactedConfig(text);
      assert.ok(shown !== undefined);
      assert.doesNotMatch(shown, /canary/);
    });
  }

  it('an unreadable config file shows no part of its text', () => {
    assert.equal(redactedConfig(`servers: [ ${canary}`), undefined);
  });

  it('a redacted config file shows the facts for a bug report', () => {
    const text = `version: 1
servers:
  a:
    transport: stdio
    command: npx
    args: ['-y', '@modelcontextprotocol/server-filesystem', '--port=3000', '.']
    env: { TOKEN: { env: HOST_TOKEN }, MODE: ci }
    tools: { whitelist: ['read_*'] }
    timeouts: { call: 30s }
  b: { transport: streamable_http, url: 'https://example.com:8443/mcp' }
`;
    assert.deepEqual(JSON.parse(redactedConfig(text) ?? ''), {
      version: 1,
      servers: {
        a: {
          transport: 'stdio',
          command: 'npx',
          args: ['-y', '@modelcontextprotocol/server-filesystem', '--port=3000', '.'],
          env: { TOKEN: { env: 'HOST_TOKEN' }, MODE: '•••' },
          tools: { whitelist: ['read_*'] },
          timeouts: { call: '30s' },
        },
        b: { transport: 'streamable_http', url: 'https://example.com:8443/mcp' },
      },
    });
  });
});
