/** Cassettes: what passed between a client and a server. */
import assert from 'node:assert/strict';
import { Redactor } from '../../src/core/base/log.js';
import {
  entryLines,
  headLine,
  parseCassette,
  type CassetteEntry,
  type Message,
  Player,
} from '../../src/core/cassette/cassette.js';

const client = (message: object): CassetteEntry => ({
  session: 's',
  from: 'client',
  message: { jsonrpc: '2.0', ...message },
});
const server = (message: object): CassetteEntry => ({
  session: 's',
  from: 'server',
  message: { jsonrpc: '2.0', ...message },
});
const call = (id: unknown, args: object, meta?: object): Message => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'count', arguments: args, ...(meta && { _meta: meta }) },
});
const result = (id: unknown, text: string): object => ({
  id,
  result: { content: [{ type: 'text', text }] },
});

function playing(...entries: CassetteEntry[]): {
  player: Player;
  sent: Message[];
  ask: (message: Message) => Promise<string>;
} {
  const sent: Message[] = [];
  const player = new Player(entries, (message) => void sent.push(message));
  const ask = async (message: Message): Promise<string> => {
    const before = sent.length;
    await player.take(message);
    return JSON.stringify(sent.slice(before));
  };
  return { player, sent, ask };
}

describe('the file of a cassette', () => {
  const redactor = new Redactor();
  redactor.register(['hunter2hunter2']);

  it('a cassette hides secrets in colour, with escapes that stay valid (E4b)', () => {
    const said = `using\u001b[33mghp_${'a1B2c3D4e5'.repeat(3)}\u001b[39m, hunter2\u001b[1mhunter2 and \u001b[1mbold`;
    const text = JSON.stringify({ id: 1, result: { text: said } });
    const [line = ''] = entryLines('s', 'server', text, redactor);
    const { message } = JSON.parse(line) as { message: { result: { text: string } } };
    assert.equal(message.result.text, 'using\u001b[33m•••\u001b[39m, ••• and \u001b[1mbold');
  });

  it('a cassette is read as it was written, without secrets and stray lines', () => {
    const lines = [
      headLine(['node', 'server', '--token=hunter2hunter2'], redactor),
      ...entryLines(
        's',
        'client',
        '{"id":1,"method":"a","params":{"api_key":"correct-horse-battery","x":"hunter2hunter2"}}',
        redactor,
      ),
      ...entryLines('s', 'server', 'Listening on stdio', redactor),
      ...entryLines(
        's',
        'server',
        '{"id":1,"result":{"text":"ghp_0123456789abcdefghijklmnopqrstuvwxyz"}}',
        redactor,
      ),
    ];
    const text = lines.join('\n');
    assert.doesNotMatch(text, /hunter2|correct-horse|ghp_0123/);
    assert.deepEqual(
      parseCassette(`${text}\n`).map(({ from, message }) => [from, message['id']]),
      [
        ['client', 1],
        ['server', 1],
      ],
    );
  });

  it('a batch is a line for each message, and what only looks like a secret is kept', () => {
    const progress = {
      method: 'notifications/progress',
      params: { progressToken: 'b5f6f1a0-8a43-4d2e-9c7b', progress: 1 },
    };
    const lines = entryLines(
      '0123456789ab',
      'server',
      JSON.stringify([progress, { id: 1, result: {} }, 5]),
      redactor,
    );
    const read = parseCassette(`${headLine([], redactor)}\n${lines.join('\n')}`);
    assert.deepEqual(read, [
      { session: '0123456789ab', from: 'server', message: progress },
      { session: '0123456789ab', from: 'server', message: { id: 1, result: {} } },
    ]);
  });

  for (const [what, text, said] of [
    ['another file', '{"a":1}', /line 1 does not name a cassette/],
    ['an empty file', '', /line 1/],
    ['a later version', '{"cassette":"mcp-toolsets","version":2}', /version/],
    [
      'a broken line',
      '{"cassette":"mcp-toolsets","version":1}\n{"from":"nobody","message":{}}',
      /line 2/,
    ],
  ] as const)
    it(`no cassette is read from ${what}`, () => assert.throws(() => parseCassette(text), said));
});

describe('a server that answers from a cassette', () => {
  it('equal requests get the answers in order, and then the last one, whatever their `_meta` (H1a)', async () => {
    const { ask } = playing(
      client(call(1, {})),
      server(result(1, 'one')),
      client(call(2, {}, { progressToken: 9 })),
      server(result(2, 'two')),
    );
    assert.match(await ask(call('a', {}, { x: 1 })), /"id":"a".*"one"/);
    assert.match(await ask(call('b', {})), /"two"/);
    assert.match(await ask(call('c', {})), /"two"/);
  });

  it('answers of requests at the same time are not mixed up', async () => {
    const { ask } = playing(
      client(call(1, { a: 1 })),
      client(call(2, { a: 2 })),
      server(result(2, 'two')),
      server(result(1, 'one')),
    );
    assert.match(await ask(call(7, { a: 2 })), /two/);
    assert.match(await ask(call(8, { a: 1 })), /one/);
  });

  it('sessions with equal ids are not mixed up', async () => {
    const other = (entry: CassetteEntry): CassetteEntry => ({ ...entry, session: 't' });
    const { ask } = playing(
      client(call(1, { a: 1 })),
      other(client(call(1, { a: 2 }))),
      server(result(1, 'one')),
      other(server(result(1, 'two'))),
    );
    assert.match(await ask(call(7, { a: 2 })), /two/);
    assert.match(await ask(call(8, { a: 1 })), /one/);
  });

  it('progress comes before the answer with the token of the client, and none without a token', async () => {
    const progress = {
      method: 'notifications/progress',
      params: { progressToken: 5, progress: 1 },
    };
    const { ask } = playing(
      client(call(1, {}, { progressToken: 5 })),
      server(progress),
      server(result(1, 'done')),
    );
    assert.match(
      await ask(call(1, {}, { progressToken: 'mine' })),
      /progress.*"progressToken":"mine".*done/,
    );
    assert.doesNotMatch(await ask(call(2, {})), /progress/);
  });

  it('a recorded request with masked secrets is equal to the one with the secrets', async () => {
    const { ask } = playing(
      client(call(1, { password: '•••', text: 'a ••• b ••• c', list: [1, '•••'] })),
      server(result(1, 'in')),
    );
    const given = { password: 'x', text: 'a secret b other c', list: [1, 2] };
    assert.match(await ask(call(7, given)), /"in"/);
    for (const other of [
      { ...given, password: undefined },
      { ...given, text: 'a secret b' },
      { ...given, text: 'a b c' },
      { ...given, list: [1] },
      { ...given, more: 1 },
    ])
      assert.match(
        await ask(call(8, JSON.parse(JSON.stringify(other)) as object)),
        /no answer/,
        JSON.stringify(other),
      );
  });

  it('a request that got no answer gets that of an equal one, or an error', async () => {
    const { ask } = playing(
      client(call(1, {})),
      server(result(1, 'one')),
      client(call(2, {})),
      client(call(3, { a: 1 })),
    );
    assert.match(await ask(call(7, {})), /one/);
    assert.match(await ask(call(8, {})), /one/);
    assert.match(
      await ask(call(9, { a: 1 })),
      /"id":9,"error".*got no answer: it was cancelled, or the server ended/,
    );
  });

  it('what belongs to a subscription comes after the same request, with the id of the client', async () => {
    const listen = (id: unknown): Message => ({
      jsonrpc: '2.0',
      id,
      method: 'subscriptions/listen',
      params: {},
    });
    const changed = (method: string): object => ({
      method,
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 2 } },
    });
    const { ask } = playing(
      client(listen(2)),
      server(changed('notifications/subscriptions/acknowledged')),
      client(call(3, {})),
      server(result(3, 'one')),
      server(changed('notifications/tools/list_changed')),
    );
    assert.match(await ask(listen(77)), /^\[.*acknowledged.*subscriptionId":77[^,]*\]$/);
    assert.match(await ask(call(9, {})), /one.*list_changed.*subscriptionId":77/);
  });

  it('a question of the server waits for the answer of the client', async () => {
    const { player, sent } = playing(
      client(call(1, {})),
      server({ id: 4, method: 'elicitation/create', params: { message: 'Who?' } }),
      client({ id: 4, result: { action: 'accept' } }),
      server(result(1, 'hello')),
    );
    const asked = player.take(call(1, {}));
    assert.deepEqual([sent.length, sent[0]?.['method']], [1, 'elicitation/create']);
    await player.take({ jsonrpc: '2.0', id: sent[0]?.['id'], result: { action: 'decline' } });
    await asked;
    assert.match(JSON.stringify(sent[1]), /hello/);
  });

  it('an unknown request gets an error with the nearest recorded one (H1a)', async () => {
    const { ask } = playing(
      client(call(1, { city: 'Bremen', days: 1 })),
      server(result(1, 'rain')),
      client(call(2, { city: 'Rome' })),
      server(result(2, 'sun')),
    );
    const said = await ask(call(1, { city: 'Bremen', days: 2 }));
    assert.match(
      said,
      /-32602.*no answer to tools\/call .*days.*:2.*nearest recorded request is tools\/call .*Bremen/,
    );
    assert.match(await ask({ id: 2, method: 'prompts/list' }), /-32601.*It has only tools\/call/);
    assert.match(await ask({ id: 3, method: 'ping' }), /"result":\{\}/);
  });

  it('`initialize` of any client gets the recorded answer, and a subscription without an answer stays open', async () => {
    const { ask, sent } = playing(
      client({ id: 0, method: 'initialize', params: { clientInfo: { name: 'x' } } }),
      server({ id: 0, result: { protocolVersion: '2025-11-25' } }),
      client({ method: 'notifications/initialized' }),
      server({ method: 'notifications/tools/list_changed' }),
      client({ id: 1, method: 'subscriptions/listen', params: {} }),
    );
    assert.match(
      await ask({ id: 9, method: 'initialize', params: { clientInfo: { name: 'y' } } }),
      /2025-11-25.*list_changed/,
    );
    const before = sent.length;
    assert.equal(await ask({ id: 10, method: 'subscriptions/listen', params: {} }), '[]');
    assert.equal(sent.length, before);
  });
});
