import assert from 'node:assert/strict';
import {
  durationPhrase,
  instancePhrase,
  summary,
  timeOf,
  tokenPhrase,
  toolCount,
} from '../../../../src/vscode/views/phrases.js';
import type { ServerStatus } from '../../../../src/core/reconcile/status.js';
import { file, problem, servedTool, snapshot, status } from './statuses.js';

describe('toolCount', () => {
  for (const [published, offered, text] of [
    [12, 34, '12 of 34 tools'],
    [12, 12, '12 tools'],
    [1, 1, '1 tool'],
    [0, 0, '0 tools'],
    [0, 3, '0 of 3 tools'],
  ] as const) {
    it(text, () => assert.equal(toolCount(published, offered), text));
  }
});

describe('summary', () => {
  it('counts the serving servers of all enabled ones', () => {
    const { text, severity, tooltip } = summary(
      snapshot([
        status('a', { tools: [servedTool('x')], offered: 2 }),
        status('b', { state: { kind: 'idle', since: 0 }, tools: [servedTool('y')], offered: 1 }),
        status('c', { state: { kind: 'stopped', since: 0 } }),
        status('d', { state: { kind: 'disabled' } }),
      ]),
    );
    assert.deepEqual([text, severity], ['MCP 2/3', 'ok']);
    assert.equal(
      tooltip,
      '2 tools, ~36 tokens in each request\na: running, 1 of 2 tools\nb: idle, 1 tool\nc: stopped',
    );
  });

  it('is busy while servers start, and an error that does not count a broken server', () => {
    const starting = status('a', { state: { kind: 'starting', since: 0 } });
    assert.equal(summary(snapshot([starting])).severity, 'busy');
    for (const broken of [
      status('b', { state: { kind: 'failed', since: 0, reason: '', fix: '' } }),
      status('b', { state: { kind: 'invalid' } }),
      status('b', { previous: { since: 0, reason: '' } }),
    ]) {
      const { severity, broken: count, text } = summary(snapshot([starting, broken, status('c')]));
      assert.deepEqual([severity, count, text], ['error', 1, 'MCP 1/3']);
    }
  });

  it('a server whose worst problem is an error is broken, unless it starts or its launch is typed (E3c)', () => {
    const previous = { since: 0, reason: '' };
    const problems = [problem({ server: 'a' })];
    const severityOf = (changes: Partial<ServerStatus>): string =>
      summary(snapshot([status('a', { tools: [servedTool('x')], ...changes })], { problems }))
        .severity;
    assert.equal(severityOf({}), 'error');
    assert.equal(severityOf({ state: { kind: 'starting', since: 0 }, previous }), 'busy');
    const reconnecting = { kind: 'reconnecting', attempt: 1, at: 0, cause: 'x' } as const;
    assert.equal(severityOf({ state: reconnecting }), 'error');
  });

  it('counts a server that waits for approval while its previous definition serves', () => {
    const launch = { server: 'a', source: file, parts: [], fingerprint: 'f' };
    const serving = status('a', {
      approval: { kind: 'pending', launch },
      previous: { since: 0, reason: '' },
      tools: [servedTool('x')],
      offered: 1,
    });
    const { text, severity, broken, pending, tooltip } = summary(snapshot([serving, status('b')]));
    assert.deepEqual([text, severity, broken, pending], ['MCP 2/2, 1 to approve', 'pending', 0, 1]);
    assert.match(tooltip, /a: running, 1 tool, serves its previous definition, waits for approval/);
  });

  it('counts a refused file as broken', () => {
    const { severity, broken, tooltip } = summary(
      snapshot([status('a')], { refused: [{ file, since: 0 }] }),
    );
    assert.deepEqual([severity, broken], ['error', 1]);
    assert.match(tooltip, /still applies/);
  });

  it('names the file and counts no servers if only a file is wrong', () => {
    const refused = [{ file, since: 0 }];
    assert.equal(summary(snapshot([status('a')], { refused })).text, 'MCP: file has errors');
    const launch = { server: 'b', source: file, parts: [], fingerprint: '' };
    const pending = status('b', {
      state: { kind: 'pending' },
      approval: { kind: 'pending', launch },
    });
    assert.equal(
      summary(snapshot([status('a'), pending], { refused })).text,
      'MCP: file has errors, 1 to approve',
    );
    const invalid = status('b', { state: { kind: 'invalid' } });
    assert.equal(summary(snapshot([status('a'), invalid], { refused })).text, 'MCP 1/2');
  });

  it('warns if agents lack a part of a server, and counts changes that are held back', () => {
    const held = status('a', {
      tools: [servedTool('x')],
      changedOffers: [
        { launch: '', kind: 'tool', original: 'x', parts: ['description'], held: true },
      ],
    });
    const { severity, tooltip, changed, broken } = summary(snapshot([held, status('b')]));
    assert.deepEqual([severity, changed, broken], ['warning', 1, 0]);
    assert.match(tooltip, /a: running, .*, 1 change held back\nb: running, agents get nothing$/);
  });

  it('warns of more tools than some models take', () => {
    const problems = [
      problem({
        code: 'too-many-tools',
        severity: 'warning',
        message: 'Agents are served 130 tools.',
      }),
    ];
    const { severity, tooltip, broken } = summary(snapshot([status('a')], { problems }));
    assert.deepEqual([severity, broken], ['warning', 0]);
    assert.match(tooltip, /at most 128 tools/);
  });

  it('says that nothing runs if the only file was never valid', () => {
    const { severity, broken, tooltip } = summary(
      snapshot([], { refused: [{ file, since: 0 }], problems: [problem()] }),
    );
    assert.deepEqual([severity, broken], ['error', 1]);
    assert.match(tooltip, /None of its servers run/);
  });

  it('shows MCP 0/0 without servers', () => {
    assert.deepEqual(
      [summary(snapshot([])).text, summary(snapshot([])).severity],
      ['MCP 0/0', 'ok'],
    );
  });
});

describe('timeOf', () => {
  it('gives the date only of another day', () => {
    const noon = new Date(2026, 0, 2, 12, 0, 0).getTime();
    assert.ok(timeOf(noon - 1000, noon).length < timeOf(noon - 86_400_000, noon).length);
  });
});

describe('tokenPhrase', () => {
  for (const [tokens, text] of [
    [0, '~0 tokens'],
    [310, '~310 tokens'],
    [3149, '~3.1k tokens'],
    [31_400, '~31k tokens'],
  ] as const) {
    it(text, () => assert.equal(tokenPhrase(tokens), text));
  }
});

describe('the holder of an instance', () => {
  const leased = (conversation: string) => ({ kind: 'leased', conversation, since: 0 }) as const;

  it('a conversation is named by the beginning of its id, and a chat with @minds is marked', () => {
    const [agent, minds] = [leased('d694395b-1111-4222'), leased('minds-0a1b2c3d-1111-4222')];
    assert.equal(instancePhrase(agent), 'conversation d694395b');
    assert.equal(instancePhrase(minds), '@minds conversation 0a1b2c3d');
  });
});

describe('durationPhrase', () => {
  for (const [minutes, text] of [
    [0.9, '<1 min'],
    [59.9, '59 min'],
    [60, '1 h'],
    [125, '2 h 5 min'],
  ] as const) {
    it(text, () => assert.equal(durationPhrase(minutes * 60_000), text));
  }
});
