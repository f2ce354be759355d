/** The inputs and outputs of calls, in memory. */
import assert from 'node:assert/strict';
import {
  approximateSize,
  CallContents,
  idStart,
  Recording,
} from '../../../src/core/calls/contents.js';
import type { CallFact } from '../../../src/core/calls/fact.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('the contents of calls', () => {
  it('the size of a value counts its texts, and ends for any value', () => {
    assert.deepEqual(approximateSize({ ab: ['cde', 1, null], f: true }), {
      size: 2 + 3 + 8 + 8 + 1 + 8,
      isWhole: true,
    });
    assert.deepEqual(approximateSize(undefined), { size: 0, isWhole: true });
    const loop: unknown[] = [];
    loop.push(loop);
    assert.deepEqual(approximateSize(loop), { size: 0, isWhole: false });
    assert.equal(approximateSize(Array.from({ length: 100_000 }, () => 'x')).isWhole, false);
  });

  it('the oldest calls make room, and a call that is too large is not kept', () => {
    const contents = new CallContents(100_000);
    const sizes = [40_000, 40_000, 100_001, Infinity, 50_000];
    for (const [number, size] of sizes.entries()) contents.keep([recordingOf(number, size)]);
    const kept = sizes.flatMap((size, number) => (contents.get(factOf(number)) ? [size] : []));
    assert.deepEqual(kept, [40_000, 50_000]);
    assert.equal(contents.get({ ...factOf(1), id: 'another1' }), undefined);
    contents.clear();
    assert.equal(contents.get(factOf(4)), undefined);
  });

  it('small calls are found again as they were, however many came after them', () => {
    const contents = new CallContents();
    const textOf = (number: number): string => `\n{"number":${number + 1},ü🙂`;
    for (let number = 0; number < 1_000; number++) {
      const recording = recordingOf(number);
      recording.onSend('files#1', { path: number, token: 'x' });
      recording.onProgress({ progress: 1 });
      recording.end(
        number,
        { kind: 'result', result: { content: [{ type: 'text', text: textOf(number) }] } },
        0,
      );
      recording.onWritten({ content: [] });
      contents.keep([recording]);
    }
    for (let number = 0; number < 1_000; number++) {
      assert.deepEqual(contents.get(factOf(number)), {
        given: { path: number },
        sent: { path: number, token: 'x' },
        outcome: { content: [{ type: 'text', text: textOf(number) }] },
        received: { content: [] },
        progress: [{ progress: 1 }],
        log: [],
      });
    }
  });

  it('a result that the client gets as the server gave it is kept as it was written', () => {
    const contents = new CallContents();
    const result = { content: [{ type: 'text' as const, text: 'x' }] };
    const [same, changed] = [recordingOf(0), recordingOf(1)];
    for (const recording of [same, changed])
      recording.end(recording.number, { kind: 'result', result }, 0);
    same.onWritten(result, '{"content":"as written"}');
    changed.onWritten({ content: [] }, '{"content":[]}');
    contents.keep([same, changed]);
    const [first, second] = [0, 1].map((number) => contents.get(factOf(number)));
    assert.deepEqual([first?.outcome, first?.received], [{ content: 'as written' }, undefined]);
    assert.deepEqual([second?.outcome, second?.received], [result, { content: [] }]);
  });

  it('the oldest small calls make room too', () => {
    const contents = new CallContents(1_000_000);
    for (let index = 0; index < 1_000; index++) contents.keep([recordingOf(index, 3_000)]);
    assert.equal(contents.get(factOf(0)), undefined);
    assert.ok(contents.get(factOf(999)));
  });

  it('a call has the log of its server from its beginning until shortly after its end', () => {
    const contents = new CallContents();
    for (const [server, at] of [
      ['files', 9],
      ['files', 20],
      ['other', 21],
      ['files', 100],
      ['files', 300],
    ] as const)
      contents.logs.add(server, at, `${server} ${at}`);
    contents.keep([recordingOf(0)]);
    assert.deepEqual(contents.get(factOf(0, 10, 20))?.log, ['files 20', 'files 100']);
  });

  it('a call with an endless log and endless progress has the first part, and old lines of logs go', () => {
    const contents = new CallContents();
    const recording = recordingOf(0);
    for (let index = 0; index < 1_000; index++) {
      contents.logs.add('files', 10, String(index));
      recording.onProgress({ progress: index });
    }
    contents.keep([recording]);
    const kept = contents.get(factOf(0, 10, 20));
    assert.deepEqual([kept?.log.length, kept?.log[0], kept?.progress.length], [200, '0', 100]);
    for (let index = 0; index < 100; index++)
      contents.logs.add('other', 1_000, 'x'.repeat(100_000));
    assert.deepEqual(contents.get(factOf(0, 10, 20))?.log, []);
  });
});

function recordingOf(number: number, size = 500): Recording {
  const { signal } = new AbortController();
  const request = {
    policy: policies.agent,
    toolset: 'files',
    conversation: 'd1',
    tool: 'read',
    arguments: { path: number },
    signal,
  };
  const recording = new Recording(request, 0);
  recording.end(number, { kind: 'cancelled' }, 0);
  recording.size = size;
  return recording;
}

function factOf(number: number, at = 0, took = 0): CallFact {
  const texts = { toolset: 'files', agent: '', conversation: 'd1', tool: 'read', original: 'read' };
  return {
    ...texts,
    id: `${idStart}${number}`,
    at,
    took,
    sentSize: 0,
    resultSize: 0,
    tokens: 0,
    outcome: 'ok',
  };
}
