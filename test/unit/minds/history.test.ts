/**
 * A conversation over its turns, the part within the limit, and the instructions beside it (D1,
 * L3).
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fitToModel, shortenedText } from '../../../src/core/minds/budget.js';
import { pastOf, readRecord, recordOf } from '../../../src/core/minds/history.js';
import { instructionsOf, type ConversationContext } from '../../../src/core/minds/instructions.js';
import type { ConversationMessage } from '../../../src/core/minds/model.js';
import { FakeModel, question } from './fakes.js';

const round = (id: string, words: string): ConversationMessage[] => [
  { kind: 'answer', text: '', calls: [{ id, tool: 'shop_count', input: {} }] },
  {
    kind: 'results',
    results: [
      { callId: id, tool: 'shop_count', parts: [{ kind: 'text', text: words }], isError: false },
    ],
  },
];

describe('records of turns', () => {
  const record = recordOf({
    conversation: 'd',
    member: 'alice',
    messages: [question('Hi'), ...round('1', 'one')],
    end: 'stopped',
  });

  it('records survive JSON and restore the conversation', () => {
    const stored: unknown = JSON.parse(JSON.stringify(record));
    assert.deepEqual(readRecord(stored), record);
    const past = pastOf([
      { question: 'ignored: the record has it', record: stored, shown: '' },
      { question: 'And now?', record: undefined, shown: 'Now this.' },
    ]);
    assert.equal(past.conversation, 'd');
    assert.equal(past.member, 'alice');
    assert.equal(past.end, undefined);
    assert.deepEqual(past.messages, [
      ...record.messages,
      question('And now?'),
      { kind: 'answer', text: 'Now this.', calls: [] },
    ]);
  });

  it('records are bounded: no images, long texts by their ends', () => {
    const image = { kind: 'image' as const, mimeType: 'image/png', base64: 'A'.repeat(1_000_000) };
    const result = {
      callId: '1',
      tool: 't',
      parts: [image, { kind: 'text' as const, text: 'x'.repeat(500_000) }],
      isError: false,
    };
    const many = Array.from({ length: 40 }, (): ConversationMessage[] => [
      { kind: 'answer', text: '', calls: [{ id: '1', tool: 't', input: {} }] },
      { kind: 'results', results: [result] },
    ]).flat();
    const stored = JSON.stringify(recordOf({ conversation: 'd', messages: many, end: 'answered' }));
    assert.ok(stored.length < 250_000, String(stored.length));
    assert.match(stored, /The image \(image\/png\) was shown/);
  });

  it('foreign records are read as far as possible, without orphans', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.anything(), fc.constant(record.messages[1]), fc.constant(record.messages[2])),
        ),
        (messages) => {
          const past = pastOf([
            { question: '', record: { version: 1, conversation: 'd', messages }, shown: '' },
          ]);
          past.messages.forEach((message, index) => {
            const next = past.messages[index + 1];
            if (message.kind === 'results') assert.equal(past.messages[index - 1]?.kind, 'answer');
            if (message.kind !== 'answer' || message.calls.length === 0) return;
            assert.ok(next?.kind === 'results' && next.results.length === message.calls.length);
          });
        },
      ),
    );
    assert.equal(readRecord({ version: 2, conversation: 'd', messages: [] }), undefined);
    assert.equal(readRecord('x'), undefined);
  });
});

describe('the part of a conversation within a request', () => {
  const fit = (messages: readonly ConversationMessage[], maxInputTokens: number) => {
    const model = new FakeModel([]);
    model.maxInputTokens = maxInputTokens;
    return fitToModel(
      { instructions: 'i', tools: [], messages },
      model,
      new AbortController().signal,
    );
  };

  it('everything is sent if there is room', async () => {
    const messages = [question('a'), ...round('1', 'x'.repeat(500))];
    assert.deepEqual(await fit(messages, 10_000), { messages, shortened: 0, dropped: 0 });
  });

  it('the oldest turns go when shortened results are not enough, and the last question stays', async () => {
    const long = question('q'.repeat(3_000));
    const messages = [
      long,
      ...round('1', 'x'.repeat(3_000)),
      long,
      ...round('2', 'y'.repeat(3_000)),
      question('And now?'),
    ];
    const { messages: fitted, dropped } = await fit(messages, 5_000);
    assert.equal(dropped, 3);
    assert.match(fitted[0]?.kind === 'user' ? fitted[0].text : '', /^\[3 earlier messages/);
    assert.deepEqual(fitted.at(-1), question('And now?'));
  });

  it('calls and results stay together after any removal', async () => {
    const turn = fc
      .tuple(fc.nat(4_000), fc.array(fc.nat(4_000), { maxLength: 3 }))
      .map(([size, results]) => [
        question('q'.repeat(size)),
        ...results.flatMap((length, index) => round(String(index), 'r'.repeat(length))),
      ]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 100, max: 20_000 }),
        async (made, limit) => {
          const { messages } = await fit(made.flat(), limit);
          messages.forEach((message, index) => {
            if (message.kind === 'results') assert.equal(messages[index - 1]?.kind, 'answer');
          });
          assert.ok(messages.some(({ kind }) => kind === 'user'));
        },
      ),
    );
  });

  it('a shortened text keeps its ends, whole characters, and is shorter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (words) => {
        const short = shortenedText(words, 40, 20);
        assert.ok(short.length <= words.length);
        assert.ok(short === words || /characters are left out here/.test(short));
        assert.doesNotMatch(short, /[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
      }),
    );
  });
});

describe('instructions', () => {
  const context: ConversationContext = {
    member: { id: 'alice', name: 'Alice', purpose: 'tests' },
    toolsets: [{ id: 'shop', instructions: 'Count first.' }],
    deferred: [{ id: 'browser', why: 'starting' }],
    held: [],
    release: 'mcp_release',
  };

  it('the instructions have the member, its toolsets’ instructions, and the missing toolsets', () => {
    const told = instructionsOf(context);
    assert.match(told, /You are Alice \(alice\)[^]*tests/);
    assert.match(told, /toolset "shop":\nCount first\./);
    assert.match(told, /"browser" is yours too[^]*starting/);
    assert.doesNotMatch(told, /mcp_release/);
  });

  it('the instructions name each held instance and its release (L3)', () => {
    const told = instructionsOf({ ...context, held: ['shop', 'browser'] });
    assert.match(told, /has its own instance of "shop", "browser"/);
    assert.match(
      told,
      /mcp_release\(\{"serverId":"shop"\}\), mcp_release\(\{"serverId":"browser"\}\)/,
    );
    const silent = instructionsOf({ ...context, held: ['shop'], release: undefined });
    assert.match(silent, /has its own instance/);
    assert.doesNotMatch(silent, /mcp_release/);
  });
});
