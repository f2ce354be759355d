/** The lists of an organisation also hold for the servers behind the toolsets (S1b). */
import assert from 'node:assert/strict';
import { withoutBarred } from '../../../src/core/catalogue/serverLists.js';
import { ConfigState } from '../../../src/core/config/read/merge.js';

const text = `version: 1
servers:
  files: { transport: stdio, command: npx, args: ['-y', 'files'] }
  web: { transport: streamable_http, url: 'https://mcp.example.com/api/v1?x=1' }
  off: { transport: stdio, command: npx, args: ['evil'], enabled: false }
`;

describe('lists of servers (S1b)', () => {
  const { servers } = new ConfigState().apply(
    [{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }],
    {
      env: {},
      directoryExists: () => true,
    },
  ).model;

  const barred = (allowed: unknown, denied: unknown): string[] =>
    withoutBarred(servers, { allowed, denied }).problems.map(
      ({ server, message }) => `${server} ${/chat\.mcp\.(\w+)/.exec(message)?.[1]}`,
    );

  it('no list bars no server', () => {
    assert.deepEqual(barred(undefined, undefined), []);
    assert.deepEqual(barred(null, null), []);
    assert.deepEqual(withoutBarred(servers, { allowed: null, denied: null }).servers, servers);
  });

  it('a list denies by name, by command and by URL', () => {
    assert.deepEqual(barred(null, [{ serverName: 'files' }]), ['files deniedServers']);
    assert.deepEqual(barred(null, [{ serverCommand: ['npx', '-y', 'files'] }]), [
      'files deniedServers',
    ]);
    assert.deepEqual(barred(null, [{ serverCommand: ['npx'] }]), []);
    for (const serverUrl of [
      'HTTPS://MCP.example.com/api/v1?x=1',
      'https://*.example.com/*',
      '*://mcp*v1*',
    ]) {
      assert.deepEqual(barred(null, [{ serverUrl }]), ['web deniedServers'], serverUrl);
    }
    for (const serverUrl of [
      'https://mcp.example.com/',
      'https://*.example.com',
      'https://*.example.org/*',
      'x*',
    ]) {
      assert.deepEqual(barred(null, [{ serverUrl }]), [], serverUrl);
    }
  });

  it('a list allows only its entries, and a denial counts more', () => {
    assert.deepEqual(barred([], null), ['files allowedServers', 'web allowedServers']);
    assert.deepEqual(barred([{ serverName: 'web' }], null), ['files allowedServers']);
    assert.deepEqual(
      barred([{ serverName: 'web' }, { serverName: 'files' }], [{ serverName: 'web' }]),
      ['web deniedServers'],
    );
  });

  it('an entry that names a server in no way, or in two, is left out', () => {
    const denied = [
      {},
      7,
      null,
      { serverName: 'files', serverUrl: 'https://x/' },
      { serverUrl: 3 },
    ];
    assert.deepEqual(barred(null, denied), []);
  });

  it('a server with a value command is barred by a possible denial, and not allowed by a possible match', () => {
    const printing = `version: 1
servers:
  files: { transport: stdio, command: npx, args: ['-y', { command: [echo, files] }] }
  web: { transport: streamable_http, url: { prefix: 'https://', command: [echo, mcp.example.com] } }
  named: { transport: streamable_http, url: { prefix: 'https://mcp.example.com/', env: SERVICE } }
`;
    const { servers: given } = new ConfigState().apply(
      [{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text: printing }],
      {
        env: { SERVICE: 'api' },
        directoryExists: () => true,
      },
    ).model;
    const barredOf = (allowed: unknown, denied: unknown): (string | undefined)[] =>
      withoutBarred(given, { allowed, denied }).problems.map(({ server }) => server);
    assert.deepEqual(barredOf(null, [{ serverCommand: ['npx', '-y', 'files'] }]), ['files']);
    assert.deepEqual(barredOf(null, [{ serverCommand: ['npx', '-x', 'files'] }]), []);
    assert.deepEqual(barredOf(null, [{ serverUrl: 'https://mcp.example.com/*' }]), [
      'web',
      'named',
    ]);
    assert.deepEqual(barredOf(null, [{ serverUrl: 'https://mcp.example.org/*' }]), ['web']);
    assert.deepEqual(barredOf([{ serverUrl: '*' }, { serverCommand: ['npx', '-y', ''] }], null), [
      'files',
      'web',
    ]);
    assert.deepEqual(barredOf([{ serverName: 'web' }, { serverName: 'files' }], null), ['named']);
  });

  it('an address that takes too long to match counts as denied and as not allowed (S2)', () => {
    const long = `https://mcp.example.com/${'a'.repeat(4_000)}`;
    const text = `version: 1\nservers:\n  web: { transport: streamable_http, url: '${long}' }\n`;
    const { servers: given } = new ConfigState().apply(
      [{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }],
      {
        env: {},
        directoryExists: () => true,
      },
    ).model;
    const lists = [{ serverUrl: `https://*${'a'.repeat(2_000)}b*` }];
    const barred = (allowed: unknown, denied: unknown): number =>
      withoutBarred(given, { allowed, denied }).problems.length;
    assert.deepEqual(
      [barred(lists, null), barred(null, lists), barred([{ serverUrl: '*' }], null)],
      [1, 1, 0],
    );
  });

  it('a barred server is switched off, and its instances end', () => {
    const [files] = withoutBarred(servers, {
      allowed: null,
      denied: [{ serverName: 'files' }],
    }).servers;
    assert.ok(files?.kind === 'valid' && !files.definition.enabled);
  });
});
