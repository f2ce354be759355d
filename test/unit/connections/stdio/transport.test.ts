/** Rules X1, P3: messages in the pipes of a server, and their times. */
import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import type { ProcessExit } from '../../../../src/core/processes/processTree.js';
import { StdioTransport } from '../../../../src/core/connections/stdio/transport.js';
import { LoopShare } from '../../../../src/core/base/turns.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import { silentLog } from '../../../support/fakes/silentLog.js';

describe('stdio transport', () => {
  let writes: string[];
  let written: Promise<void>;
  let transport: StdioTransport;
  let stdout: PassThrough;
  let stderr: PassThrough;
  let exit: (exit: ProcessExit) => void;
  let stdin: Writable;
  let clock: FakeClock;
  /** The time of each step of work, on the meter of the share. */
  let worked: number;

  beforeEach(() => {
    writes = [];
    let tell: () => void;
    written = new Promise((resolve) => (tell = resolve));
    const take = (text: string, done: () => void): void => {
      writes.push(text);
      tell();
      done();
    };
    stdin = new Writable({
      decodeStrings: false,
      write: (chunk: string, _, done) => take(chunk, done),
      writev: (chunks, done) => take(chunks.map(({ chunk }) => chunk as string).join(''), done),
    });
    stdout = new PassThrough();
    stderr = new PassThrough();
    const tree = {
      pid: 1,
      stdin,
      stdout,
      stderr,
      exited: new Promise<ProcessExit>((resolve) => (exit = resolve)),
      stop: () => Promise.resolve(stdin.end() && []),
    };
    worked = 0;
    clock = new FakeClock();
    let time = 0;
    const share = new LoopShare(clock, { now: () => (time += worked) });
    transport = new StdioTransport({ tree, log: silentLog, share, exitGraceMs: 1 });
  });

  const send = (id: number): Promise<void> =>
    transport.send({ jsonrpc: '2.0', id, method: 'ping' });
  const line = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;

  it('an unfinished last line belongs to the output (X3a)', async () => {
    stdout.write('not JSON\n{"jsonrpc"');
    stderr.write('Ready\nEnter token: ');
    await rest();
    const { stray, unfinished, stderr: words } = transport.remains;
    assert.deepEqual(
      [stray, unfinished, words],
      [['not JSON'], '{"jsonrpc"', ['Ready', 'Enter token:']],
    );
  });

  it('a line of a log that is JSON with the id of a request is no answer (X1a)', async () => {
    await transport.start();
    const answers: unknown[] = [];
    transport.onmessage = (message) => answers.push(message);
    await send(7);
    const lines = [
      { id: 7, level: 30, msg: 'request received' },
      { level: 'info', msg: 'x', id: 7 },
      { id: '7', level: 'debug', msg: 'rx' },
      { level: 'error', error: 'it took long', id: 7 },
      { id: 7, time: 1, response: { jsonrpc: '2.0', result: {} } },
    ];
    for (const each of lines) stdout.write(`${JSON.stringify(each)}\n`);
    stdout.write('{"id":7,level=info}\n');
    await rest();
    assert.deepEqual(answers, []);
    stdout.write('{"id":7,"result":{}}\n');
    await rest();
    assert.equal(answers.length, 1, 'a result without `jsonrpc` costs its call');
  });

  it('a very long line of a log costs no call (X1a)', async () => {
    await transport.start();
    const answers: unknown[] = [];
    transport.onmessage = (message) => answers.push(message);
    await send(7);
    const text = 'x'.repeat(17 * 1024 * 1024);
    for (const line of [`{"level":"debug","msg":"${text}","id":7}\n`, `${text}\n`]) {
      stdout.write(line);
      await rest();
    }
    assert.deepEqual(answers, []);
    stdout.write(`{"jsonrpc":"2.0","id":7,"result":"${text}"}\n`);
    await rest();
    assert.equal(answers.length, 1);
  });

  it('the remains name an answer that could not be read, until a message comes (X1a)', async () => {
    await transport.start();
    const answer = '{"jsonrpc":"2.0","id":7,"result":{}}';
    for (const [written, fault] of [
      [`INFO ${answer}\n`, /beside other text/],
      [`${JSON.stringify(JSON.parse(answer), undefined, 2)}\n`, /over several lines/],
      [Buffer.from(`${answer}\n`, 'utf16le'), /UTF-16/],
    ] as const) {
      await send(7);
      assert.equal(transport.remains.misread, undefined);
      stdout.write(written);
      await rest();
      assert.match(transport.remains.misread ?? '', fault);
      // The second byte of the last line break in UTF-16 is a line with nothing else.
      stdout.write(`\n${answer}\n`);
      await rest();
      assert.equal(transport.remains.misread, undefined);
    }
  });

  it('messages of one turn are written together, in their order', async () => {
    await Promise.all([send(1), send(2)]);
    await send(3);
    await written;
    assert.deepEqual(writes, [line(1) + line(2) + line(3)]);
  });

  it('a message is written at once if no two calls overlapped for a while, until two do', async () => {
    await transport.start();
    const answer = async (id: number): Promise<void> => {
      stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{}}\n`);
      await new Promise(setImmediate);
    };
    for (let id = 1; id <= 8; id++) {
      void send(id);
      assert.equal(writes.length, id - 1);
      await new Promise(setImmediate);
      await answer(id);
    }
    void send(9);
    assert.deepEqual(writes.slice(8), [line(9)]);
    void send(10);
    void send(11);
    await new Promise(setImmediate);
    assert.deepEqual(writes.slice(9), [line(10) + line(11)]);
    for (const id of [9, 10, 11]) await answer(id);
    void send(12);
    assert.equal(writes.length, 10);
  });

  it('an answer to a server that does not read is not waited for, and a request is (S2e)', async () => {
    let read = (): void => undefined;
    stdin._write = (_chunk, _encoding, done) => (read = done);
    stdin._writev = null as never;
    const answer = transport.send({
      jsonrpc: '2.0',
      id: 's1',
      result: { text: 'x'.repeat(100_000) },
    });
    await answer;
    let isSent = false;
    const request = send(1).then(() => (isSent = true));
    await rest();
    assert.equal(isSent, false);
    stdin._write = (_chunk, _encoding, done) => done();
    read();
    await request;
  });

  it('messages sent before the end are written', async () => {
    void send(1);
    await transport.close();
    await written;
    assert.deepEqual(writes, [line(1)]);
    await assert.rejects(send(2), /takes no more input/);
  });

  describe('a long line', () => {
    let heard: string[];
    const told = (method: string, params: object = {}): string =>
      `${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`;
    const long = told('long', { text: 'x'.repeat(500_000) });

    beforeEach(async () => {
      heard = [];
      transport.onmessage = (message) =>
        heard.push('method' in message ? message.method : 'answer');
      transport.onclose = () => heard.push('closed');
      await transport.start();
    });

    it('a long line is delivered in a later turn, and later lines follow it', async () => {
      stdout.write(told('first'));
      stdout.write(long + told('second'));
      await new Promise(setImmediate);
      assert.deepEqual(heard, ['first']);
      stdout.write(told('third'));
      while (heard.length < 4) await new Promise(setImmediate);
      assert.deepEqual(heard, ['first', 'long', 'second', 'third']);
    });

    it('a long line is charged by its time, even an answer, and then the server waits (S2c)', async () => {
      void send(1);
      worked = 700;
      stdout.write(
        `${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(500_000) } })}\n`,
      );
      while (heard.length < 1) await clock.flow(1000);
      stdout.write(told('second'));
      await rest();
      assert.deepEqual(heard, ['answer']);
      await clock.flow(60_000);
      assert.deepEqual(heard, ['answer', 'second']);
    });

    const over = 'x'.repeat(17 << 20);

    it('a line over the limit of an answer fails the call that it answers (S2f)', async () => {
      const answers: unknown[] = [];
      transport.onmessage = (message) => answers.push(message);
      for (const id of [1, 2, 3]) void send(id);
      stdout.write(
        `{"jsonrpc":"2.0","id":2,"result":{"v":"${over}"}}\n{"result":{"v":"${over}"},"jsonrpc":"2.0","id":3}\n`,
      );
      stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} })}\n`);
      await rest();
      assert.deepEqual(
        answers.map((answer) => {
          const { id, error } = answer as { id: unknown; error?: { message: string } };
          return [Number(id), error?.message];
        }),
        [
          [2, 'The answer of the server is larger than 16 MiB.'],
          [3, 'The answer of the server is larger than 16 MiB.'],
          [1, undefined],
        ],
      );
    });

    it('an unrequested line has half the limit, even while calls are in flight (S2f)', async () => {
      const text = 'x'.repeat(9 << 20);
      stdout.write(told('much', { text }));
      void send(1);
      stdout.write(told('much', { text }));
      stdout.write(told('second'));
      await rest();
      assert.deepEqual(heard, ['second']);
    });

    it('a long line is delivered before the exit of the process is reported', async () => {
      stdout.end(long + told('second'));
      exit({ code: 0, signal: null });
      await transport.ended;
      assert.deepEqual(heard, ['long', 'second', 'closed']);
    });
  });

  const batch = (messages: readonly object[]): string =>
    `${JSON.stringify(messages.map((message) => ({ jsonrpc: '2.0', ...message })))}\n`;
  const nTimes = (count: number, message: object): object[] =>
    Array.from({ length: count }, () => message);

  /** True if the server has to wait after the text. The work takes no time. */
  const isHeldUp = async (text: string): Promise<boolean> => {
    stdout.write(text);
    do await new Promise(setImmediate);
    while (stdout.isPaused() && clock.pending === 0);
    return clock.pending > 0;
  };

  it('a burst of short messages is heard in several turns and in its order (P10)', async () => {
    await transport.start();
    const heard: unknown[] = [];
    transport.onmessage = (message) => heard.push('id' in message ? message.id : message);
    void send(0);
    const requests = Array.from({ length: 600 }, (_, n) => ({ id: `r${n}`, method: 'roots/list' }));
    const messages = [...requests.slice(0, 300), { id: 0, result: {} }, ...requests.slice(300)];
    stdout.write(
      messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''),
    );
    const perTurn: number[] = [];
    while (heard.length < messages.length) {
      const before = heard.length;
      await new Promise(setImmediate);
      perTurn.push(heard.length - before);
    }
    assert.deepEqual(
      heard,
      messages.map(({ id }) => id),
    );
    assert.ok(Math.max(...perTurn) <= 32, `${Math.max(...perTurn)} messages in one turn`);
  });

  it('each message of a batch is heard in a turn of its own, before later lines (P10)', async () => {
    await transport.start();
    const heard: unknown[] = [];
    transport.onmessage = (message) => heard.push('id' in message && message.id);
    const ids = Array.from({ length: 100 }, (_, n) => n);
    stdout.write(batch(ids.map((id) => ({ id, method: 'ping' }))) + line(100));
    for (let before = 0; heard.length <= 100; before = heard.length) {
      await new Promise(setImmediate);
      assert.ok(heard.length - before <= 2, `${heard.length - before} messages in one turn`);
    }
    assert.deepEqual(heard, [...ids, 100]);
  });

  it('lines that wait for their turn are dropped by the end', async () => {
    await transport.start();
    let heard = 0;
    transport.onmessage = () => (heard += 1);
    stdout.write(line(1).repeat(600));
    await new Promise(setImmediate);
    const before = heard;
    await transport.close();
    await rest();
    assert.ok(before < 600);
    assert.equal(heard, before);
  });

  it('reading pauses after many lines or messages, unless they are answers (S2c)', async () => {
    await transport.start();
    const ids = Array.from({ length: 2500 }, (_, id) => id);
    for (const id of ids) void send(id);
    const answers = ids.map((id) => ({ id, result: {} }));
    const batches = [0, 500, 1000, 1500, 2000].map((from) =>
      batch(answers.slice(from, from + 500)),
    );
    assert.equal(await isHeldUp(batches.join('')), false);
    assert.equal(await isHeldUp(batch(nTimes(500, { method: 'm' })).repeat(20)), true);
  });

  it('reading does not pause after answers, even if the server writes their ids as texts', async () => {
    await transport.start();
    const ids = Array.from({ length: 2500 }, (_, id) => id);
    for (const id of ids) void send(id);
    const answers = ids.map((id) => batch([{ id: String(id), result: {} }]));
    assert.equal(await isHeldUp(answers.join('')), false);
  });

  it('reading pauses after many empty lines, too (S2c)', async () => {
    await transport.start();
    assert.equal(await isHeldUp('\n'.repeat(10_000)), true);
  });

  describe('the exit of the process', () => {
    const code = { code: 3, signal: null };

    it('the exit is reported even if a message fails before it', async () => {
      await transport.start();
      // Node does this before it reports the exit.
      stdin.destroy();
      exit(code);
      // The client closes the transport, too.
      void send(1).catch(() => transport.close());
      assert.deepEqual(await transport.ended, { kind: 'exited', exit: code });
    });

    it('the exit is reported even if the event loop was blocked for longer than the grace', async () => {
      stdout.once('end', () => {
        const until = performance.now() + 5;
        while (performance.now() < until);
        setImmediate(() => exit(code));
      });
      stdout.end();
      assert.deepEqual(await transport.ended, { kind: 'exited', exit: code });
    });
  });
});
