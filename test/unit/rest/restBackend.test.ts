/** REST adds servers to the config file by an edit, or refuses with a code (G7). */
import assert from 'node:assert/strict';
import type { ConfigFileAccess } from '../../../src/core/files/configFile.js';
import { Emitter } from '../../../src/core/base/events.js';
import { FileRefused } from '../../../src/core/base/textFile.js';
import type { RestAnswer } from '../../../src/core/gateway/http/rest.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { ServerStatus, StatusSnapshot } from '../../../src/core/reconcile/status.js';
import { createRestBackend } from '../../../src/core/rest/restBackend.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

const gamma = {
  id: 'gamma',
  transport: 'stdio',
  command: 'node',
  args: ['x.js'],
  env: { A: { env: 'NOT_SET' } },
};
const config =
  'version: 1\nservers:\n  # the first\n  alpha: { transport: stdio, command: a } # kept\n';
const url = (id: string): string => `http://127.0.0.1:1/mcp/${id}`;

describe('REST: adding a server', () => {
  let text: string | undefined;
  let servers: ServerStatus[];
  let blocked: string | undefined;
  let outside: string | undefined;
  let onRead: () => void;
  let changes: Emitter<StatusSnapshot>;
  let clock: FakeClock;
  let file: ConfigFileAccess | undefined;

  beforeEach(() => {
    [text, servers, blocked, outside, onRead] = [config, [], undefined, undefined, () => {}];
    changes = new Emitter();
    clock = new FakeClock();
    file = {
      file: '/ws/.minds/mcp.yaml',
      folder: '/ws',
      read: async () => {
        onRead();
        return await Promise.resolve(text);
      },
      write: ({ before, after }) => {
        assert.equal(before, text ?? '');
        text = after;
        servers.push(status([...after.matchAll(/\n {2}(\w+):\n/g)].at(-1)?.[1] ?? ''));
        queueMicrotask(() => changes.fire(snapshot()));
      },
      outside: () => outside,
      blocked: () => blocked,
    };
  });

  const snapshot = (): StatusSnapshot => ({ version: 1, refused: [], servers, problems: [] });

  const status = (id: string): ServerStatus => {
    const part = {
      id,
      source: '/ws/.minds/mcp.yaml',
      transport: 'stdio',
      state: { kind: 'pending' },
      offered: 0,
    };
    return { ...part, approval: { kind: 'pending' } } as unknown as ServerStatus;
  };

  function backend(): ReturnType<typeof createRestBackend> {
    const host = {
      get snapshot() {
        return snapshot();
      },
      catalogue: { version: 1, toolsets: [] },
      onDidChange: changes.event,
    } as unknown as Host;
    return createRestBackend(host, clock, () => file);
  }

  const add = (body: unknown): Promise<RestAnswer> => backend().add(body, url);

  const code = async (body: unknown): Promise<[number, string]> => {
    const answer = await add(body);
    assert.equal(answer.kind, 'error', JSON.stringify(answer));
    return answer.kind === 'error' ? [answer.status, answer.code] : [0, ''];
  };

  it('a server is added behind the others, comments stay, and the answer says that it waits (G7)', async () => {
    const answer = await add(gamma);
    assert.equal(
      text,
      `${config}  gamma:\n    transport: stdio\n    command: node\n    args: [x.js]\n    env:\n      A: { env: NOT_SET }\n`,
    );
    assert.ok(answer.kind === 'value' && answer.status === 201);
    const { upstream } = answer.value as { upstream: Record<string, unknown> };
    assert.deepEqual(
      [upstream['id'], upstream['state'], upstream['approval']],
      ['gamma', 'pending', 'pending'],
    );
    assert.equal(clock.pending, 0);
  });

  it('a missing file is made, and the mark at the beginning of a file stays', async () => {
    text = undefined;
    await add(gamma);
    assert.match(text ?? '', /^version: 1\n\nservers:\n {2}gamma:\n/);
    text = `\uFEFF${config}`;
    servers = [];
    await add(gamma);
    assert.ok((text as string).startsWith(`\uFEFF${config}`));
  });

  it('a file that would change when it is written again is left alone', async () => {
    const refused = new FileRefused('/ws/.minds/mcp.yaml', 'it is not written in UTF-8');
    onRead = () => {
      throw refused;
    };
    assert.deepEqual(await code(gamma), [409, 'config-has-errors']);
    assert.equal(text, config);
  });

  it('two requests at once are two edits', async () => {
    const both = backend();
    await Promise.all([both.add(gamma, url), both.add({ ...gamma, id: 'delta' }, url)]);
    assert.match(text ?? '', /gamma:[^]*delta:/);
  });

  for (const [name, body, expected] of [
    ['no object', [gamma], [400, 'not-an-object']],
    ['null', null, [400, 'not-an-object']],
    ['no id', { command: 'x' }, [400, 'id-missing']],
    ['an id that is none', { ...gamma, id: 'a b' }, [400, 'id-invalid']],
    ['the id of a built-in toolset', { ...gamma, id: 'mcp_admin' }, [400, 'id-invalid']],
    ['an id that the file has', { ...gamma, id: 'alpha' }, [409, 'id-taken']],
    ['null as a value', { ...gamma, cwd: null }, [400, 'value-unusable']],
    [
      'a number beyond all limits',
      JSON.parse('{"id":"x","command":"x","timeouts":{"call":1e400}}'),
      [400, 'value-unusable'],
    ],
    [
      'a transport that is none',
      { id: 'x', transport: 'sse', url: 'http://x/' },
      [422, 'transport-sse'],
    ],
    ['a key too few', { id: 'x', transport: 'stdio' }, [422, 'missing-key']],
    ['a value of another type', { ...gamma, args: 'x' }, [422, 'wrong-type']],
  ] as const) {
    it(`${name}: ${expected.join(' ')}, and nothing is written`, async () => {
      assert.deepEqual(await code(body), expected);
      assert.equal(text, config);
    });
  }

  it('a server with a previous definition says so, since when and why (R3)', () => {
    const since = Date.UTC(2026, 0, 2);
    servers = [{ ...status('a'), previous: { since, reason: 'It is wrong.' } }, status('b')];
    const previous = backend()
      .upstreams(url)
      .map((upstream) => (upstream as { previous: unknown }).previous);
    assert.deepEqual(previous, [
      { since: '2026-01-02T00:00:00.000Z', reason: 'It is wrong.' },
      null,
    ]);
  });

  it('an id of another file is taken too', async () => {
    servers = [status('own')];
    assert.deepEqual(await code({ ...gamma, id: 'own' }), [409, 'id-taken']);
  });

  it('a file that is broken, unsaved in the editor or changed in between is left alone', async () => {
    text = 'version: 1\nservers: [\n';
    assert.deepEqual(await code(gamma), [409, 'config-has-errors']);
    text = 'servers:\n  a: { transport: stdio, command: a }\n';
    assert.deepEqual(await code(gamma), [409, 'config-has-errors']);
    text = config;
    outside = 'Links lead away.';
    assert.deepEqual(await code(gamma), [409, 'config-outside']);
    outside = undefined;
    blocked = 'It has unsaved changes.';
    assert.deepEqual(await code(gamma), [409, 'config-unsaved']);
    blocked = undefined;
    let reads = 0;
    onRead = () => {
      if (++reads === 2) text = `${config}# by a person\n`;
    };
    assert.deepEqual(await code(gamma), [409, 'config-changed']);
    assert.equal(text, `${config}# by a person\n`);
    file = undefined;
    assert.deepEqual(await code(gamma), [409, 'no-folder']);
  });
});
