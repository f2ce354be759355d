import assert from 'node:assert/strict';
import { lensFacts } from '../../../../src/vscode/views/serverStates.js';
import { lenses } from '../../../../src/vscode/authoring/lensModel.js';
import { servedTool, status } from '../views/statuses.js';

const text = 'version: 1\nservers:\n  a:\n    command: x\n';
const failed = { kind: 'failed', since: 0, reason: 'gone', fix: 'look' } as const;
const needed = { kind: 'signInNeeded', since: 0, why: 'It has expired.' } as const;
const previous = { since: 0, reason: 'no npx' };

describe('lensFacts (E2)', () => {
  const changes: readonly (readonly [
    string,
    Parameters<typeof status>[1],
    Parameters<typeof status>[1],
  ])[] = [
    [
      'the state',
      { state: { kind: 'starting', since: 0 } },
      { state: { kind: 'running', since: 0 } },
    ],
    ['the reason of a failure', { state: failed }, { state: { ...failed, reason: 'hung' } }],
    ['what to do about a failure', { state: failed }, { state: { ...failed, fix: 'wait' } }],
    [
      'why a sign-in is needed',
      { state: needed },
      { state: { ...needed, why: 'It was revoked.' } },
    ],
    [
      'the rights that a sign-in lacks',
      { signIn: { kind: 'signedIn', lacks: undefined } },
      { signIn: { kind: 'signedIn', lacks: 'write' } },
    ],
    ['the need of a sign-in', {}, { signIn: { kind: 'needed', why: '', since: 0 } }],
    ['the tools', {}, { tools: [servedTool('x')], offered: 1 }],
    [
      'the tools that are offered',
      { tools: [servedTool('x')], offered: 1 },
      { tools: [servedTool('x')], offered: 2 },
    ],
    ['the previous definition', {}, { previous }],
    [
      'since when the previous definition serves',
      { previous },
      { previous: { ...previous, since: 60_000 } },
    ],
  ];
  for (const [what, before, after] of changes) {
    it(`change with ${what}, because the lenses do`, () => {
      const [one, other] = [status('a', before), status('a', after)];
      assert.notDeepEqual(lenses(text, [one]), lenses(text, [other]));
      assert.notDeepEqual(lensFacts(one), lensFacts(other));
    });
  }

  it('does not change if the lenses do not', () => {
    const startedAt = {
      id: '1',
      pid: 1,
      startedAt: 0,
      lastCallAt: 1,
      callsInFlight: 0,
      use: { kind: 'shared' },
    } as const;
    assert.deepEqual(lensFacts(status('a', { instances: [startedAt] })), lensFacts(status('a')));
  });
});
