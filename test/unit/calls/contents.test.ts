/** The inputs and outputs of calls, in memory. */
import assert from 'node:assert/strict';
import { approximateSize, CallContents, Recording } from '../../../src/core/calls/contents.js';
import type { CallFact } from '../../../src/core/calls/fact.js';

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
    for (const [id, size] of [
      ['a', 40_000],
      ['b', 40_000],
      ['large', 100_001],
      ['endless', Infinity],
      ['c', 50_000],
    ] as const)
      contents.keep([recordingOf(id, size)]);
    const kept = ['a', 'b', 'large', 'endless', 'c'].filter((id) => contents.get(factOf(id)) !== undefined);
    assert.deepEqual(kept, ['b', 'c']);
    contents.clear();
    assert.equal(contents.get(factOf('c')), undefined);
  });

  it('small calls are found again as they were, however many came after them', () => {
    const contents = new CallContents();
    const ids = Array.from({ length: 1_000 }, (_, index) => `call${index}`);
    for (const id of ids) {
      const recording = recordingOf(id);
      recording.onSend('files#1', { path: id, token: 'x' });
      recording.onProgress({ progress: 1 });
      recording.end(id, { kind: 'result', result: { content: [{ type: 'text', text: id }] } }, 0);
      recording.onWritten({ content: [] });
      contents.keep([recording]);
    }
    for (const id of ids) {
      assert.deepEqual(contents.get(factOf(id)), {
        given: { path: id },
        sent: { path: id, token: 'x' },
        outcome: { content: [{ type: 'text', text: id }] },
        received: { content: [] },
        progress: [{ progress: 1 }],
        log: [],
      });
    }
  });

  it('a result that the client gets as the server gave it is kept as it was written', () => {
    const contents = new CallContents();
    const result = { content: [{ type: 'text' as const, text: 'x' }] };
    const [same, changed] = [recordingOf('same'), recordingOf('changed')];
    for (const recording of [same, changed]) recording.end(recording.id, { kind: 'result', result }, 0);
    same.onWritten(result, '{"content":"as written"}');
    changed.onWritten({ content: [] }, '{"content":[]}');
    contents.keep([same, changed]);
    const [first, second] = ['same', 'changed'].map((id) => contents.get(factOf(id)));
    assert.deepEqual([first?.outcome, first?.received], [{ content: 'as written' }, undefined]);
    assert.deepEqual([second?.outcome, second?.received], [result, { content: [] }]);
  });

  it('the oldest small calls make room too', () => {
    const contents = new CallContents(1_000_000);
    for (let index = 0; index < 1_000; index++) contents.keep([recordingOf(`call${index}`, 3_000)]);
    assert.equal(contents.get(factOf('call0')), undefined);
    assert.ok(contents.get(factOf('call999')));
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
    contents.keep([recordingOf('a')]);
    assert.deepEqual(contents.get(factOf('a', 10, 20))?.log, ['files 20', 'files 100']);
  });

  it('a call with an endless log and endless progress has the first part, and old lines of logs go', () => {
    const contents = new CallContents();
    const recording = recordingOf('a');
    for (let index = 0; index < 1_000; index++) {
      contents.logs.add('files', 10, String(index));
      recording.onProgress({ progress: index });
    }
    contents.keep([recording]);
    const kept = contents.get(factOf('a', 10, 20));
    assert.deepEqual([kept?.log.length, kept?.log[0], kept?.progress.length], [200, '0', 100]);
    for (let index = 0; index < 100; index++) contents.logs.add('other', 1_000, 'x'.repeat(100_000));
    assert.deepEqual(contents.get(factOf('a', 10, 20))?.log, []);
  });
});

function recordingOf(id: string, size = 500): Recording {
  const { signal } = new AbortController();
  const request = { toolset: 'files', conversation: 'd1', tool: 'read', arguments: { path: id }, signal };
  const recording = new Recording(request, 0);
  recording.end(id, { kind: 'cancelled' }, 0);
  recording.size = size;
  return recording;
}

function factOf(id: string, at = 0, took = 0): CallFact {
  const texts = { toolset: 'files', agent: '', conversation: 'd1', tool: 'read', original: 'read' };
  return { ...texts, id, at, took, sentSize: 0, resultSize: 0, tokens: 0, outcome: 'ok' };
}
