/**
 * An authorization server in this process, and the metadata of its MCP server. A refresh token
 * belongs to the client that got it and is valid once. Every visitor of the authorization page
 * consents. The test decides when to answer a renewal.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Issued {
  readonly client: string | null;
  readonly scope: string | null;
}

export class TokenServer {
  /** The requests, in words. */
  readonly seen: string[] = [];
  /** The valid refresh tokens. */
  readonly refresh = new Map<string, Issued>();
  /** Awaited before the answer to a renewal. */
  holds: (() => Promise<void>) | undefined;
  /** The path of the metadata of the MCP server. */
  metadataPath = '/.well-known/oauth-protected-resource/mcp';
  private readonly codes = new Map<string, Issued>();
  private readonly server: Server;
  private made = 0;
  private origin = '';

  constructor(private readonly life?: number) {
    this.server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on(
        'end',
        () => void this.answer(new URL(request.url ?? '/', this.origin), body, response),
      );
    });
  }

  /** The address of the MCP server. */
  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** The MCP server's challenge to a request without a valid token. */
  get challenge(): string {
    return `Bearer resource_metadata="${this.origin}${this.metadataPath}", scope="read"`;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.origin = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(
    { pathname, searchParams }: URL,
    body: string,
    response: ServerResponse,
  ): Promise<void> {
    const { origin } = this;
    const sent = new URLSearchParams(body);
    const say = (value: object, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    switch (pathname) {
      case this.metadataPath:
        return say({
          resource: this.url,
          authorization_servers: [origin],
          scopes_supported: ['read', 'write'],
        });
      case '/.well-known/oauth-authorization-server':
        return say({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          revocation_endpoint: `${origin}/revoke`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
        });
      case '/register':
        return say({ ...(JSON.parse(body) as object), client_id: this.make('client') }, 201);
      case '/authorize': {
        const [client, scope] = [searchParams.get('client_id'), searchParams.get('scope')];
        this.seen.push(`authorize ${client} for ${scope}`);
        const code = this.make('code');
        this.codes.set(code, { client, scope });
        const back = new URL(searchParams.get('redirect_uri') ?? '');
        back.searchParams.set('state', searchParams.get('state') ?? '');
        back.searchParams.set('code', code);
        return void response.writeHead(302, { location: back.href }).end();
      }
      case '/revoke':
        this.refresh.delete(sent.get('token') ?? '');
        return say({});
      case '/token':
        break;
      default:
        return void response.writeHead(404).end();
    }
    const token = sent.get('refresh_token');
    if (token === null) return this.give(this.codes.get(sent.get('code') ?? ''), say);
    const issued = this.refresh.get(token);
    this.seen.push(`${sent.get('client_id')} renews what ${issued?.client} has`);
    if (issued?.client !== sent.get('client_id')) return say({ error: 'invalid_grant' }, 400);
    this.refresh.delete(token);
    await this.holds?.();
    this.give(issued, say);
  }

  private give(issued: Issued | undefined, say: (value: object, status?: number) => void): void {
    if (!issued) return say({ error: 'invalid_grant' }, 400);
    const refresh = this.make('refresh');
    this.refresh.set(refresh, issued);
    say({
      access_token: this.make('access'),
      refresh_token: refresh,
      token_type: 'Bearer',
      scope: issued.scope,
      expires_in: this.life,
    });
  }

  private make(what: string): string {
    return `${what}-${++this.made}`;
  }
}
