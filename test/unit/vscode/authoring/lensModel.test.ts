import assert from 'node:assert/strict';
import type { ServerState } from '../../../../src/core/reconcile/status.js';
import { lenses } from '../../../../src/vscode/authoring/lensModel.js';
import { servedTool, status } from '../views/statuses.js';

const text = 'version: 1\nservers:\n  # the first\n  a:\n    command: x\n  b: { ';

function titles(state: ServerState, changes: Parameters<typeof status>[1] = {}): string {
  return lenses(text, [status('a', { state, ...changes })])
    .map(({ title }) => title.replace('\u00a0', ' '))
    .join(' | ');
}

describe('code lenses (E2)', () => {
  it('lenses are at the id of each server, even in broken YAML', () => {
    const found = lenses(text, [status('b'), status('a'), status('gone')]);
    const places = found.map(({ span, server }) => `${server} ${text.slice(span.start, span.end)}`);
    assert.deepEqual([...new Set(places)], ['a a', 'b b']);
  });

  const tools = { tools: [servedTool('x')], offered: 3 };
  const cases: readonly (readonly [ServerState, Parameters<typeof status>[1], string])[] = [
    [
      { kind: 'running', since: 0 },
      tools,
      '$(pass) Running · 1 of 3 tools | Restart | Show Log | Stop',
    ],
    [{ kind: 'idle', since: 0 }, tools, '$(pass) Idle · 1 of 3 tools | Restart | Show Log | Stop'],
    [{ kind: 'starting', since: 0 }, {}, '$(sync) Starting | Show Log | Stop'],
    [
      { kind: 'failed', since: 0, reason: 'gone', fix: 'look' },
      {},
      '$(error) Failed | Start | Show Log',
    ],
    [{ kind: 'stopped', since: 0 }, {}, '$(circle-large-outline) Stopped | Start | Show Log'],
    [{ kind: 'disabled' }, {}, '$(circle-slash) Disabled | Enable'],
    [{ kind: 'pending' }, {}, '$(shield) Waits for approval'],
    [{ kind: 'remembered', since: 0 }, {}, '$(history) Not started | Restart | Stop'],
    [{ kind: 'invalid' }, {}, '$(error) Entry with errors | Show Problems'],
    [
      { kind: 'running', since: 0 },
      { ...tools, previous: { since: 0, reason: 'no npx' } },
      '$(warning) Running · 1 of 3 tools · previous definition | Restart | Show Log | Stop',
    ],
  ];
  it('lenses of a server whose launch is typed offer to apply it (R1a)', () => {
    for (const state of [{ kind: 'waiting' }, { kind: 'running', since: 0 }] as const)
      assert.equal(titles(state, { waits: true }), 'Waits while you type… | Apply Now');
  });

  for (const [state, changes, expected] of cases) {
    it(`${state.kind}${changes?.previous ? ', of the previous definition' : ''}`, () => {
      assert.equal(titles(state, changes), expected);
    });
  }

  it('lenses show why a server failed', () => {
    const [lens] = lenses(text, [
      status('a', { state: { kind: 'failed', since: 0, reason: 'gone', fix: 'look' } }),
    ]);
    assert.equal(lens?.tooltip, 'gone\nlook');
  });
});
