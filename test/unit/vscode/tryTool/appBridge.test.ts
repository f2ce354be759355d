/** The answers to an app in a panel (G8). */
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppBridge } from '../../../../src/vscode/tryTool/appBridge.js';

type Message = Readonly<Record<string, unknown>>;

describe('the bridge of an app (G8)', () => {
  let sent: Message[];
  let asked: unknown[];
  let bridge: AppBridge;
  let pending: ((value: never) => void)[];

  beforeEach(() => {
    [sent, asked, pending] = [[], [], []];
    bridge = new AppBridge({
      tool: { name: 'show' },
      arguments: { a: 1 },
      result: { content: [], structuredContent: { count: 1 } },
      productVersion: '1.2.3',
      theme: () => 'dark',
      call: async (name, given) => {
        asked.push([name, given]);
        if (name === 'throws') throw new Error('it threw');
        if (name === 'waits') return new Promise((resolve) => pending.push(resolve));
        if (name === 'unknown') return { kind: 'error', code: -32602, message: 'no such tool' };
        return { kind: 'result', result: { content: [], structuredContent: { count: 2 } } };
      },
      read: (uri) => {
        asked.push(uri);
        return Promise.resolve({ kind: 'result', result: { contents: [] } });
      },
      send: (message) => sent.push(message),
    });
  });

  afterEach(() => bridge.dispose());

  async function answerTo(method: string, params?: unknown): Promise<Message> {
    bridge.receive({ jsonrpc: '2.0', id: 'x', method, params });
    await nextTurn();
    const { jsonrpc, id, ...answer } = sent.at(-1) ?? {};
    assert.deepEqual([jsonrpc, id], ['2.0', 'x']);
    return answer;
  }

  it('the bridge sends arguments and result after the app is initialized', async () => {
    const { result } = (await answerTo('ui/initialize', {})) as { result: Message };
    assert.equal(result['protocolVersion'], '2026-01-26');
    assert.deepEqual(result['hostCapabilities'], { serverTools: {}, serverResources: {} });
    assert.equal((result['hostContext'] as Message)['theme'], 'dark');
    assert.equal(sent.length, 1);
    bridge.receive({ jsonrpc: '2.0', method: 'ui/notifications/initialized' });
    bridge.receive({ jsonrpc: '2.0', method: 'ui/notifications/initialized' });
    assert.deepEqual(sent.slice(1), [
      { jsonrpc: '2.0', method: 'ui/notifications/tool-input', params: { arguments: { a: 1 } } },
      {
        jsonrpc: '2.0',
        method: 'ui/notifications/tool-result',
        params: { content: [], structuredContent: { count: 1 } },
      },
    ]);
    bridge.themeChanged();
    assert.deepEqual(sent.at(-1)?.['params'], { theme: 'dark' });
  });

  it('the bridge passes on calls and reads', async () => {
    assert.deepEqual(await answerTo('tools/call', { name: 'bump', arguments: { by: 1 } }), {
      result: { content: [], structuredContent: { count: 2 } },
    });
    assert.deepEqual(await answerTo('resources/read', { uri: 'ui://a' }), {
      result: { contents: [] },
    });
    assert.deepEqual(asked, [['bump', { by: 1 }], 'ui://a']);
  });

  for (const [method, params, answer] of [
    ['ping', {}, { result: {} }],
    ['ui/request-display-mode', { mode: 'fullscreen' }, { result: { mode: 'inline' } }],
    ['ui/open-link', { url: 'https://a.example' }, { result: { isError: true } }],
    ['ui/message', { content: [] }, { result: { isError: true } }],
    ['ui/download-file', {}, { result: { isError: true } }],
    ['tools/call', { name: 7 }, { error: { code: -32602, message: '`name` must be a string.' } }],
    ['tools/call', 'text', { error: { code: -32602, message: '`name` must be a string.' } }],
    ['tools/call', { name: 'unknown' }, { error: { code: -32602, message: 'no such tool' } }],
    ['tools/call', { name: 'throws' }, { error: { code: -32603, message: 'it threw' } }],
    ['resources/read', {}, { error: { code: -32602, message: '`uri` must be a string.' } }],
    [
      'sampling/createMessage',
      {},
      { error: { code: -32601, message: 'Method not found: sampling/createMessage' } },
    ],
    ['constructor', {}, { error: { code: -32601, message: 'Method not found: constructor' } }],
  ] as const) {
    it(`answers ${method} ${JSON.stringify(params)}`, async () =>
      assert.deepEqual(await answerTo(method, params), answer));
  }

  it('the bridge ignores messages that are not requests', async () => {
    for (const message of [
      undefined,
      null,
      7,
      'x',
      [],
      {},
      { id: 1 },
      { method: 7, id: 1 },
      { method: 'x' },
    ]) {
      bridge.receive(message);
    }
    bridge.themeChanged();
    await nextTurn();
    assert.deepEqual(sent, []);
  });

  it('the bridge limits requests in flight, and sends nothing after its end', async () => {
    for (let id = 0; id < 33; id++)
      bridge.receive({ id, method: 'tools/call', params: { name: 'waits' } });
    await nextTurn();
    assert.deepEqual([sent.length, sent[0]?.['id'], asked.length], [1, 32, 32]);
    bridge.dispose();
    for (const resolve of pending) resolve({ kind: 'result', result: { content: [] } } as never);
    await nextTurn();
    assert.equal(sent.length, 1);
  });
});
