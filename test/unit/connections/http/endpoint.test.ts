import assert from 'node:assert/strict';
import { HttpEndpoint, type HttpAccess } from '../../../../src/core/connections/http/endpoint.js';
import { literal } from '../../../../src/core/config/model.js';

describe('an HTTP endpoint', () => {
  it('an ended request does not wait for a token (X5, X6)', async () => {
    const access: HttpAccess = {
      token: () => new Promise(() => {}),
      refused: () => assert.fail('nothing was sent'),
    };
    const launch = {
      transport: 'streamable_http',
      url: literal('http://server.test/mcp'),
      headers: new Map(),
      sessionId: '',
    } as const;
    const endpoint = new HttpEndpoint(launch, '9', access);
    const closing = new AbortController();
    const asked = [endpoint.post('{}', 'call', closing), endpoint.remove(closing.signal)];
    closing.abort();
    for (const request of asked) await assert.rejects(request, /abort/);
    endpoint.dispose();
  });
});
