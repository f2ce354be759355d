import assert from 'node:assert/strict';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  discover,
  placesElsewhere,
} from '../../../../../src/core/connections/http/oauth/discovery.js';

/** Each kind of endpoint counts alike. */
function assertElsewhere(issuer: string, address: string, expected: readonly string[]): void {
  const own = {
    issuer,
    authorization_endpoint: `${issuer}/a`,
    token_endpoint: `${issuer}/t`,
    response_types_supported: [],
  };
  for (const key of [
    'authorization_endpoint',
    'token_endpoint',
    'registration_endpoint',
    'revocation_endpoint',
  ]) {
    const authority = {
      issuer,
      metadata: { ...own, [key]: address },
      resource: undefined,
      scopes: undefined,
    };
    assert.deepEqual(placesElsewhere(authority), expected, key);
  }
}

describe('OAuth discovery (X7)', () => {
  const server = new URL('https://mcp.example/mcp');
  const issuer = 'https://auth.example';

  /**
   * Discovers `named` from the metadata of the server. Returns the requests to other origins, and
   * the error.
   */
  async function asked(
    named: string,
    byPerson: boolean,
    wanted?: string,
  ): Promise<{ urls: string[]; why: string }> {
    const urls: string[] = [];
    const fetchFn: FetchLike = (target) => {
      urls.push(String(target));
      const isResource = String(target).includes('protected-resource');
      const json = isResource
        ? { resource: server.href, authorization_servers: [named] }
        : undefined;
      return Promise.resolve(json ? Response.json(json) : new Response('', { status: 404 }));
    };
    const discovery = { server, metadataUrl: undefined, issuer: wanted, byPerson, fetchFn };
    const why = await discover(discovery).then(
      () => '',
      (error: Error) => error.message,
    );
    return { urls: urls.filter((url) => new URL(url).origin !== server.origin), why };
  }

  it('discovery asks only the server and the issuer of the file before a person acts', async () => {
    assert.deepEqual(await asked(issuer, false), { urls: [], why: '' });
    assert.match(
      (await asked(issuer, true)).urls[0] ?? '',
      /^https:\/\/auth\.example\/\.well-known/,
    );
    assert.match(
      (await asked(issuer, false, `${issuer}/`)).urls[0] ?? '',
      /^https:\/\/auth\.example\/\.well-known/,
    );
    assert.match(
      (await asked(issuer, true, 'https://other.example')).why,
      /but the config file names https:\/\/other\.example/,
    );
  });

  for (const named of [
    'http://auth.example',
    'http://169.254.169.254/',
    'http://127.0.0.1:6379/',
    'https://localhost',
  ]) {
    it(`discovery never sends a request to ${named} for a server elsewhere`, async () => {
      const { urls, why } = await asked(named, true);
      assert.deepEqual(urls, []);
      assert.match(why, /no sign-in begins/);
    });
  }

  /**
   * Resolves with the accepted resource or 'refused'. @param places resources in the metadata, by
   * path
   */
  async function taken(
    url: string,
    places: Readonly<Record<string, string>>,
    named?: string,
  ): Promise<string> {
    const fetchFn: FetchLike = (target) => {
      const { origin, pathname, search } = new URL(target);
      const resource = origin === server.origin ? places[`${pathname}${search}`] : undefined;
      return Promise.resolve(
        resource === undefined
          ? new Response('', { status: 404 })
          : Response.json({ resource, authorization_servers: [server.origin] }),
      );
    };
    const metadataUrl = named === undefined ? undefined : new URL(named, server);
    const discovery = {
      server: new URL(url),
      metadataUrl,
      issuer: undefined,
      byPerson: true,
      fetchFn,
    };
    return discover(discovery).then(
      ({ resource }) => resource ?? 'none',
      () => 'refused',
    );
  }

  const well = '/.well-known/oauth-protected-resource';
  const host = 'https://mcp.example';
  for (const [what, url, places, resource, named] of [
    ['the server', '/mcp', { [`${well}/mcp`]: `${host}/mcp` }, `${host}/mcp`],
    ['the server, named by its challenge', '/mcp', { '/x': `${host}/mcp` }, `${host}/mcp`, '/x'],
    ['the server, at the place of its host', '/mcp', { [well]: `${host}/mcp` }, `${host}/mcp`],
    ['the server with a slash', '/mcp', { [`${well}/mcp`]: `${host}/mcp/` }, `${host}/mcp/`],
    ['the server without its slash', '/mcp/', { [`${well}/mcp`]: `${host}/mcp` }, `${host}/mcp`],
    ['its query', '/mcp?a=1', { [`${well}/mcp?a=1`]: `${host}/mcp?a=1` }, `${host}/mcp?a=1`],
    ['its host, at the place of the host', '/mcp', { [well]: host }, host],
    ['its host with a slash, there', '/mcp', { [well]: `${host}/` }, `${host}/`],
    [
      'its host, at the server’s place and there',
      '/mcp',
      { [`${well}/mcp`]: host, [well]: host },
      host,
    ],
    [
      'a folder above, at its place',
      '/a/mcp',
      { '/x': `${host}/a`, [`${well}/a`]: `${host}/a` },
      `${host}/a`,
      '/x',
    ],
    [
      'no query, at that place',
      '/mcp?a=1',
      { [`${well}/mcp?a=1`]: `${host}/mcp`, [`${well}/mcp`]: `${host}/mcp` },
      `${host}/mcp`,
    ],
    ['its host, at the server’s place only', '/mcp', { [`${well}/mcp`]: host }, 'refused'],
    ['its host, at a place that it names', '/mcp', { '/x': `${host}/` }, 'refused', '/x'],
    ['a folder above, not at its place', '/a/mcp', { [`${well}/a/mcp`]: `${host}/a` }, 'refused'],
    [
      'a folder whose place says another',
      '/a/mcp',
      { '/x': `${host}/a`, [`${well}/a`]: `${host}/a/mcp` },
      'refused',
      '/x',
    ],
    [
      'a neighbour, at its own place',
      '/mcp',
      { '/x': `${host}/other`, [`${well}/other`]: `${host}/other` },
      'refused',
      '/x',
    ],
    [
      'a longer name',
      '/mcp',
      { [`${well}/mcp`]: `${host}/mc`, [`${well}/mc`]: `${host}/mc` },
      'refused',
    ],
    [
      'something below',
      '/mcp',
      { [`${well}/mcp`]: `${host}/mcp/a`, [`${well}/mcp/a`]: `${host}/mcp/a` },
      'refused',
    ],
    ['another query', '/mcp?a=1', { [`${well}/mcp?a=1`]: `${host}/mcp?a=2` }, 'refused'],
    ['a user', '/mcp', { [`${well}/mcp`]: 'https://u@mcp.example/mcp' }, 'refused'],
    ['a fragment', '/mcp', { [`${well}/mcp`]: `${host}/mcp#a` }, 'refused'],
    ['another port', '/mcp', { [`${well}/mcp`]: `${host}:8443/mcp` }, 'refused'],
    ['another host', '/mcp', { [`${well}/mcp`]: 'https://other.example/mcp' }, 'refused'],
  ] as readonly (readonly [string, string, Record<string, string>, string, string?])[]) {
    it(`discovery ${resource === 'refused' ? 'refuses' : 'takes'} metadata whose resource is ${what} (X7d)`, async () => {
      assert.equal(await taken(`${host}${url}`, places, named), resource);
    });
  }

  for (const [of, address, isElsewhere] of [
    ['https://auth.example', 'https://auth.example/authorize', false],
    ['https://auth.example/tenant', 'https://login.auth.example/authorize', false],
    ['https://auth.example', 'https://auth.example:8443/authorize', true],
    ['https://auth.example', 'http://auth.example/authorize', true],
    ['https://auth.example', 'http://login.auth.example/authorize', true],
    ['https://one.pages.example', 'https://two.pages.example/authorize', true],
    ['https://one.pages.example', 'https://pages.example/authorize', true],
    ['https://auth.example', 'https://notauth.example/authorize', true],
    ['https://auth.example', 'https://auth.example.other.example/authorize', true],
    ['http://127.0.0.1:1000', 'http://127.0.0.1:2000/authorize', true],
  ] as const) {
    it(`${address} is ${isElsewhere ? 'not on' : 'on'} the site of ${of}, as every kind of endpoint`, () => {
      assertElsewhere(of, address, isElsewhere ? [new URL(address).origin] : []);
    });
  }

  const entra = 'https://login.example/0a1b2c3d-0000-4000-8000-0123456789ab';
  for (const [of, address, isElsewhere] of [
    ['https://h.example/tenant-a', 'https://h.example/tenant-a/authorize', false],
    ['https://h.example/tenant-a', 'https://h.example/tenant-a', false],
    ['https://h.example/tenant-a/', 'https://h.example/tenant-a/authorize', false],
    ['https://h.example/tenant-a', 'https://h.example/tenant-a/x/../authorize', false],
    [
      'https://h.example/realms/x',
      'https://h.example/realms/x/protocol/openid-connect/auth',
      false,
    ],
    ['https://h.example/oauth2/default', 'https://h.example/oauth2/default/v1/authorize', false],
    [`${entra}/v2.0`, `${entra}/oauth2/v2.0/token`, false],
    [
      `${entra}/v2.0`,
      'https://login.example/0a1b2c3d-0000-4000-8000-0123456789ac/oauth2/v2.0/token',
      true,
    ],
    ['https://h.example/tenant-a', 'https://h.example/tenant-b/authorize', true],
    ['https://h.example/tenant-a', 'https://h.example/tenant-ab/authorize', true],
    ['https://h.example/tenant-a', 'https://h.example/Tenant-A/authorize', true],
    ['https://h.example/tenant-a', 'https://h.example/authorize', true],
    ['https://h.example/tenant-a', 'https://h.example/tenant-a/../tenant-b/authorize', true],
    ['https://h.example/tenant-a', 'https://h.example/tenant-a/%2e%2E/tenant-b/authorize', true],
    ['https://h.example/tenant-a', 'https://h.example/tenant-a/..%2ftenant-b/authorize', true],
    ['https://h.example/tenant-a', 'https://h.example/tenant-a/..%5Ctenant-b/authorize', true],
    [
      'https://h.example/tenant-a',
      'https://h.example/tenant-a/%252e%252e/tenant-b/authorize',
      true,
    ],
    ['https://h.example/tenant-a', 'https://h.example/tenant-a/..;/tenant-b/authorize', true],
    ['https://h.example/tenant-a', 'https://h.example/tenant-a\\..\\tenant-b/authorize', true],
    ['https://h.example/realms/v1', 'https://h.example/realms/x/auth', true],
    ['https://h.example/tenant-a', 'https://h.example:8443/tenant-a/authorize', true],
  ] as const)
    it(`if an issuer has a path, ${address} is ${isElsewhere ? 'another site than' : 'on the site of'} ${of} (X7c)`, () => {
      const { origin, pathname } = new URL(address);
      assertElsewhere(of, address, isElsewhere ? [origin + pathname] : []);
    });

  it('without metadata, the assumed addresses at the root of the host are another site than an issuer with a path (X7c)', () => {
    const places = (issuer: string): string[] =>
      placesElsewhere({ issuer, metadata: undefined, resource: undefined, scopes: undefined });
    assert.deepEqual(places('https://h.example/'), []);
    assert.deepEqual(
      places('https://h.example/tenant-a'),
      ['authorize', 'token', 'register'].map((one) => `https://h.example/${one}`),
    );
  });
});
