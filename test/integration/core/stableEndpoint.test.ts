/**
 * The port and the secret for other agents (G6): the owner of the port, the contents of the file
 * and refusals.
 */
import assert from 'node:assert/strict';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nextEvent } from '../../../src/core/base/events.js';
import { tokenFileOf, tokenIn } from '../../../src/core/files/tokenFile.js';
import {
  secretInFile,
  StableEndpoint,
  type EndpointState,
} from '../../../src/core/gateway/http/stableEndpoint.js';
import { createGateway } from '../../../src/core/gateway/http/gateway.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { FakeBackend, MemoryLog } from '../../unit/gateway/fakes.js';
import { posixIt } from '../../support/notHere.js';
import { within } from '../../support/core/within.js';
import { assertRefused } from '../gateway/rig.js';

describe('stable endpoint (G6)', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-endpoint-'));
    file = path.join(folder, 'endpoints', 'a.token');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function open(port?: number): { endpoint: StableEndpoint; clock: FakeClock; secrets: string[] } {
    const [backend, clock, log, secrets] = [
      new FakeBackend(),
      new FakeClock(),
      new MemoryLog(),
      [] as string[],
    ];
    const endpoint = new StableEndpoint({
      ...(port !== undefined && { port }),
      secret: secretInFile(file, { kind: 'serve', version: '1' }, clock),
      clock,
      log,
      keepSecret: (values) => {
        secrets.push(...values);
        return { dispose: () => {} };
      },
      createGateway: (stable) => createGateway({ backend, clock, log }, { version: '1', stable }),
    });
    return { endpoint, clock, secrets };
  }

  const reaches = async (
    endpoint: StableEndpoint,
    kind: EndpointState['kind'],
  ): Promise<EndpointState> => {
    if (endpoint.state.kind === kind) return endpoint.state;
    return within(
      nextEvent(endpoint.onDidChange, (state) => state.kind === kind),
      kind,
      () => JSON.stringify(endpoint.state),
    );
  };

  it('A second endpoint of the same port reports it as taken, and listens after the first has ended', async () => {
    const first = open(0).endpoint;
    const state = await reaches(first, 'listening');
    assert.ok(state.kind === 'listening');
    const { endpoint: second, clock, secrets } = open(state.port);
    assert.deepEqual(await reaches(second, 'portTaken'), { kind: 'portTaken', port: state.port });
    assert.equal(second.gateway?.endpoint('a', 'agent').url, undefined);
    await first.dispose();
    clock.advance(3_000);
    await reaches(second, 'listening');
    assert.equal(
      second.gateway?.endpoint('a', 'agent').url,
      `http://127.0.0.1:${state.port}/mcp/a`,
    );
    assert.deepEqual(new Set(secrets), new Set([readFileSync(file, 'utf8').trim()]));
    await second.dispose();
    await assertRefused(state.port);
  });

  it('An endpoint begins with its first port, and moves to another one', async () => {
    const { endpoint, clock } = open();
    clock.advance(60_000);
    assert.equal(endpoint.state.kind, 'starting');
    endpoint.use(0);
    const first = await reaches(endpoint, 'listening');
    assert.ok(first.kind === 'listening');
    const other = open(0).endpoint;
    const taken = await reaches(other, 'listening');
    assert.ok(taken.kind === 'listening');
    endpoint.use(taken.port);
    assert.equal(endpoint.state.kind, 'starting');
    assert.deepEqual(await reaches(endpoint, 'portTaken'), { kind: 'portTaken', port: taken.port });
    await assertRefused(first.port);
    endpoint.use(1);
    endpoint.use(first.port);
    assert.deepEqual(await reaches(endpoint, 'listening'), first);
    await Promise.all([endpoint.dispose(), other.dispose()]);
    await assertRefused(first.port);
  });

  it('An endpoint that ends during its start does not listen', async () => {
    const { endpoint } = open(0);
    await endpoint.dispose();
    assert.equal(endpoint.state.kind, 'starting');
  });

  it('An unavailable file is a reason, not a throw', async () => {
    writeFileSync(path.join(folder, 'endpoints'), '');
    const { endpoint } = open(0);
    const state = await reaches(endpoint, 'failed');
    assert.match(state.kind === 'failed' ? state.reason : '', /EEXIST|ENOTDIR/);
    await endpoint.dispose();
  });

  it('The secret has 256 bits, and two concurrent creators of the file get the same one', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => tokenIn(file)));
    assert.equal(new Set(tokens).size, 1);
    assert.match(tokens[0] ?? '', /^[\w-]{43}$/);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(path.dirname(file)), ['a.token']);
  });

  for (const [name, make, declare] of [
    ['too short', () => writeFileSync(file, 'abc\n', { mode: 0o600 }), it],
    [
      'open to others',
      () => writeFileSync(file, 'A'.repeat(43), { mode: 0o640 }),
      posixIt('files have modes on POSIX systems alone'),
    ],
    [
      'a link to elsewhere',
      () => {
        writeFileSync(path.join(folder, 'other'), 'A'.repeat(43), { mode: 0o600 });
        symlinkSync(path.join(folder, 'other'), file);
      },
      posixIt('links to files need a right on Windows'),
    ],
  ] as const) {
    declare(`what stands in the file and is ${name} is replaced`, async () => {
      await tokenIn(file);
      rmSync(file);
      make();
      const token = await tokenIn(file);
      assert.notEqual(token, 'A'.repeat(43));
      assert.equal(token.length, 43);
      assert.ok(statSync(file).isFile());
    });
  }

  it('Each folder has its own file outside the folder', () => {
    const home = path.resolve('/home/ada');
    const { dir, base } = path.parse(tokenFileOf(path.resolve('/ws/my repo'), home));
    assert.equal(dir, path.join(home, '.minds', 'endpoints'));
    assert.match(base, /^my-repo-[0-9a-f]{8}\.token$/);
    assert.notEqual(tokenFileOf('/a/repo', home), tokenFileOf('/b/repo', home));
    assert.match(path.basename(tokenFileOf('/', home)), /^root-[0-9a-f]{8}\.token$/);
  });
});
