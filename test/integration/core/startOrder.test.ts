/** The gateway of every shell listens before the first server starts (P8b). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SourceText } from '../../../src/core/config/model.js';
import { openEngine, type Audience, type Engine } from '../../../src/core/engine/openEngine.js';
import { newToken } from '../../../src/core/files/tokenFile.js';
import { configText, rawWith } from '../../support/core/configText.js';
import { guardianScript } from '../../support/core/bundles.js';
import { CapturedLogs } from '../../support/core/capturedLogs.js';
import { patientClock, within } from '../../support/core/within.js';

describe('the order of the first start (P8b)', () => {
  let home: string;
  let engine: Engine;
  let endpoint: ReturnType<Engine['serve']>;
  /** The state of the endpoint when the log of the server begins, which is before its spawn. */
  let atStart: string[];

  beforeEach(async () => {
    home = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-order-'));
    atStart = [];
    const logs = new CapturedLogs();
    const fail = (error: unknown): void => assert.fail(String(error));
    engine = openEngine({
      surroundings: {
        clock: patientClock,
        log: logs.sink(),
        serverLog: () => ({ write: () => void atStart.push(endpoint.state.kind) }),
        env: process.env,
        version: '0.0.0-test',
        guardianScript: await guardianScript(),
      },
      settings: { filteredTools: () => 'information' },
      folder: undefined,
      home,
      onFailure: { config: fail, record: fail },
    });
  });

  afterEach(async () => {
    await engine.dispose();
    rmSync(home, { recursive: true });
  });

  const audiences: Record<string, () => Audience> = {
    editor: () => ({
      kind: 'editor',
      secret: { read: () => Promise.resolve(newToken()), watch: () => ({ dispose: () => {} }) },
    }),
    agents: () => ({
      kind: 'agents',
      tokenFile: path.join(home, 'a.token'),
      program: { kind: 'serve', version: '0.0.0-test' },
      port: 0,
    }),
  };
  const source = (): SourceText => ({
    file: path.join(home, '.minds', 'mcp.yaml'),
    folder: home,
    text: configText({ a: rawWith(['echo'], { cwd: home }) }),
  });

  for (const [name, audience] of Object.entries(audiences)) {
    it(`The endpoint for ${name} answers before a server starts, also if the files come at once`, async () => {
      endpoint = engine.serve(audience());
      const applied = engine.host.setSources([source()]);
      await within(applied, 'the start');
      assert.equal(engine.host.snapshot.servers[0]?.state.kind, 'running');
      assert.deepEqual([...new Set(atStart)], ['listening']);
      const { state } = endpoint;
      assert.ok(state.kind === 'listening');
      const socket = connect(state.port, '127.0.0.1');
      await within(once(socket, 'connect'), 'the connection');
      socket.destroy();
    });
  }

  it('An endpoint that cannot listen holds up no server', async () => {
    const taken = engine.serve(audiences['editor']!());
    await taken.settled();
    assert.ok(taken.state.kind === 'listening');
    endpoint = engine.serve({ ...audiences['agents']!(), port: taken.state.port } as Audience);
    await within(engine.host.setSources([source()]), 'the start');
    assert.deepEqual([...new Set(atStart)], ['portTaken']);
  });
});
