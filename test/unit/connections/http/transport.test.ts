import assert from 'node:assert/strict';
import { isPointlessRefusal } from '../../../../src/core/connections/http/transport.js';
import { TransportFailure } from '../../../../src/core/failures/transportFailure.js';

describe('a refused notifications/initialized (X2b)', () => {
  const url = 'http://a/mcp';
  const status = (code: number) =>
    ({ kind: 'status', status: code, body: '', contentType: '', url }) as const;
  for (const [reason, goesOn] of [
    [status(400), true],
    [status(404), true],
    [status(500), true],
    [{ kind: 'redirect', detail: 'it redirects', url }, true],
    [{ kind: 'broken', detail: 'the server closed the connection', url }, true],
    [status(401), false],
    [status(403), false],
    [status(407), false],
    [status(429), false],
    [{ kind: 'signIn', why: 'Why.', url }, false],
    [{ kind: 'unreachable', code: 'ECONNREFUSED', detail: 'refused', url }, false],
  ] as const) {
    const { kind } = reason;
    it(`the start ${goesOn ? 'goes on' : 'ends'} after ${kind} ${kind === 'status' ? reason.status : ''}`, () => {
      assert.equal(isPointlessRefusal(new TransportFailure(reason)), goesOn);
    });
  }
});
