import assert from 'node:assert/strict';
import { inFormOf, readInitializeAnswer } from '../../../src/core/connections/handshake.js';

describe('messages to a server of an older version (X8)', () => {
  const roots = { roots: [{ uri: 'file:///a', _meta: { a: 1 } }, null] };
  const completion = { ref: {}, context: {} };

  it('the context of a completion and the _meta of roots are left out before 2025-06-18', () => {
    assert.deepEqual(inFormOf('2025-03-26', 'completion/complete', completion), { ref: {} });
    assert.deepEqual(inFormOf('2025-03-26', 'roots/list', roots), {
      roots: [{ uri: 'file:///a' }, null],
    });
    assert.equal(inFormOf('2025-06-18', 'completion/complete', completion), completion);
    assert.equal(inFormOf('2025-06-18', 'roots/list', roots), roots);
    assert.equal(inFormOf('2025-03-26', 'tools/call', completion), completion);
  });
});

describe('answers to initialize', () => {
  const right = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {}, own: { a: 1 } },
    serverInfo: { name: 'n', version: '1' },
  };

  it('an answer to initialize is right in every known version', () => {
    for (const protocolVersion of [
      '2024-10-07',
      '2024-11-05',
      '2025-03-26',
      '2025-06-18',
      '2025-11-25',
    ]) {
      const answer = readInitializeAnswer({
        ...right,
        protocolVersion,
        instructions: 'Do.',
        extra: 1,
      });
      assert.deepEqual(answer, { ...right, protocolVersion, instructions: 'Do.' });
    }
  });

  it('capabilities in an answer to initialize may be `true`, `false` or null', () => {
    const capabilities = {
      tools: true,
      prompts: null,
      resources: false,
      logging: {},
      tasks: 'all',
      own: { a: null },
    };
    const answer = readInitializeAnswer({ ...right, capabilities });
    const read = { tools: {}, logging: {}, own: { a: null } };
    assert.deepEqual(answer, { ...right, capabilities: read, instructions: undefined });
  });

  for (const [what, answer, detail] of [
    ['nothing', undefined, 'is not an object but nothing'],
    ['a list', [1], 'is not an object but [1]'],
    ['no version', { ...right, protocolVersion: 5 }, 'names no protocol version'],
    ['no capabilities', { ...right, capabilities: [] }, 'has no capabilities'],
    ['no server', { ...right, serverInfo: null }, 'has no serverInfo'],
    [
      'a nameless server',
      { ...right, serverInfo: { version: '1' } },
      'has a serverInfo without name and version',
    ],
  ] as const) {
    it(`an answer to initialize is wrong with ${what}`, () =>
      assert.equal(readInitializeAnswer(answer), detail));
  }
});
