/**
 * The address of the editor (G2): it survives reloads and new windows of a folder, and has an
 * answer to a taken port.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/core/base/clock.js';
import { nextEvent } from '../../../src/core/base/events.js';
import { createGateway, type Gateway } from '../../../src/core/gateway/http/gateway.js';
import {
  StableEndpoint,
  type EndpointState,
} from '../../../src/core/gateway/http/stableEndpoint.js';
import { KeptAddress } from '../../../src/vscode/engine/editorEndpoint.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { Secrets } from '../../support/core/person.js';
import { within } from '../../support/core/within.js';
import { FakeBackend, MemoryLog } from '../../unit/gateway/fakes.js';

describe('the address of the editor (G2)', () => {
  let secrets: Secrets;
  let log: MemoryLog;
  let kept: string[];
  const windows: StableEndpoint[] = [];
  const strangers: Server[] = [];

  beforeEach(() => {
    secrets = new Secrets();
    log = new MemoryLog();
    kept = [];
  });

  afterEach(async () => {
    for (const window of windows.splice(0)) await window.dispose();
    for (const server of strangers.splice(0)) server.close();
  });

  function open(
    workspace = `folder of ${process.pid}`,
    clock: FakeClock | typeof systemClock = systemClock,
  ) {
    const secret = new KeptAddress({ workspace, secrets }, clock, log);
    const window = new StableEndpoint({
      port: 0,
      secret,
      clock,
      log,
      keepSecret: (values) => {
        kept.push(...values);
        return { dispose: () => {} };
      },
      createGateway: (stable) =>
        createGateway(
          { backend: new FakeBackend(), clock, log },
          { version: '1', stable: { ...stable, audience: 'editor' } },
        ),
    });
    windows.push(window);
    return Object.assign(window, { renew: () => secret.renew() });
  }

  const listening = async (
    window: StableEndpoint,
  ): Promise<Extract<EndpointState, { kind: 'listening' }>> => {
    if (window.state.kind !== 'listening') {
      const changed = nextEvent(window.onDidChange, ({ kind }) => kind === 'listening');
      await within(changed, 'listening', () => JSON.stringify(window.state));
    }
    assert.ok(window.state.kind === 'listening');
    return window.state;
  };

  const addressOf = ({ gateway }: StableEndpoint): ReturnType<Gateway['endpoint']> => {
    assert.ok(gateway);
    return gateway.endpoint('a', 'editor');
  };

  it('The next window of a folder gets the same address, and another folder gets another one', async () => {
    const first = open();
    await listening(first);
    const address = addressOf(first);
    await first.dispose();
    const second = open();
    await listening(second);
    assert.deepEqual(addressOf(second), address);
    const other = open('another folder');
    await listening(other);
    assert.notEqual(addressOf(other).url, address.url);
    assert.notEqual(addressOf(other).headers['Authorization'], address.headers['Authorization']);
    assert.ok(
      kept.some((token) => address.headers['Authorization'] === `Bearer ${token}`),
      'the token is kept secret',
    );
  });

  it('The next window gets the address even while the last window is still ending', async () => {
    const first = open();
    await listening(first);
    const address = addressOf(first);
    const second = open();
    const ended = first.dispose();
    await listening(second);
    await ended;
    assert.deepEqual(addressOf(second), address);
  });

  it('The next window waits 3 s for the port of a host that still proves to be of its folder', async () => {
    const first = open();
    const { port } = await listening(first);
    const clock = new FakeClock();
    const second = open(undefined, clock);
    for (let waited = 0; waited < 2_900; waited += 100) {
      await clock.untilScheduled(100);
      clock.advance(100);
    }
    await clock.untilScheduled(100);
    await first.dispose();
    clock.advance(100);
    assert.deepEqual(await listening(second), { kind: 'listening', port });
  });

  it('A second window beside the first gets another address, says so, and has the same token', async () => {
    const first = open();
    const { port } = await listening(first);
    const second = open();
    const state = await listening(second);
    assert.notEqual(state.port, port);
    assert.deepEqual(state.instead, { port, by: 'window' });
    assert.deepEqual(addressOf(second).headers, addressOf(first).headers);
    await first.dispose();
    await second.dispose();
    assert.equal((await listening(open())).port, port);
  });

  it("The port is random and does not reveal the folder's name", async () => {
    const found = new Set<number>();
    for (let n = 0; n < 3; n++) {
      secrets = new Secrets();
      found.add((await listening(open())).port);
    }
    assert.ok(found.size > 1, [...found].join());
  });

  it('If another program has the port, port and token change for good, so the exposed token opens nothing', async () => {
    const before = open();
    const { port } = await listening(before);
    const { url, headers } = addressOf(before);
    await before.dispose();
    const shown: (string | undefined)[] = [];
    const stranger = createServer((request, response) => {
      if (request.headers.authorization) shown.push(request.headers.authorization);
      response.end('what?');
    });
    strangers.push(stranger);
    await once(stranger.listen(port, '127.0.0.1'), 'listening');
    assert.equal((stranger.address() as AddressInfo).port, port);
    const window = open();
    const state = await listening(window);
    assert.notEqual(state.port, port);
    assert.deepEqual(state.instead, { port, by: 'program' });
    // A session of an agent host goes on with its old address.
    await fetch(url, { method: 'POST', headers, body: '{}' });
    assert.deepEqual(shown, [headers['Authorization']]);
    const next = addressOf(window);
    assert.notDeepEqual(next.headers, headers);
    const status = async (sent: Record<string, string>): Promise<number> =>
      (
        await fetch(next.url, {
          method: 'POST',
          headers: { ...sent, 'content-type': 'application/json' },
          body: '{}',
        })
      ).status;
    assert.equal(await status(headers), await status({}), 'the old token is as good as none');
    assert.notEqual(await status(next.headers), await status({}));
    await window.dispose();
    stranger.closeAllConnections();
    stranger.close();
    const later = open();
    assert.deepEqual(await listening(later), { kind: 'listening', port: state.port });
    assert.deepEqual(addressOf(later), next);
  });

  it('A renewed token replaces the old one in every window, on the same port', async () => {
    const [first, second] = [open(), open()];
    const [{ port }] = [await listening(first), await listening(second)];
    const { url, headers } = addressOf(first);
    const renewed = [first, second].map((window) =>
      nextEvent(window.onDidChange, ({ kind }) => kind === 'listening'),
    );
    await first.renew();
    await within(Promise.all(renewed), 'both listen again');
    assert.equal((await listening(first)).port, port);
    assert.notDeepEqual(addressOf(first).headers, headers);
    assert.deepEqual(addressOf(second).headers, addressOf(first).headers);
    const refused = await fetch(url, { method: 'POST', headers, body: '{}' });
    assert.equal(refused.status, 404);
  });

  it('The address lasts for one window only if the storage does not answer', async () => {
    secrets.get = () => new Promise(() => undefined);
    const clock = new FakeClock();
    const window = open(undefined, clock);
    await clock.untilScheduled(3_000);
    clock.advance(3_000);
    await listening(window);
    assert.match(log.lines.join('\n'), /did not answer/);
  });
});
