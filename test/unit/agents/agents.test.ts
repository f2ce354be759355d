/** Whose entries are offered to a person (G6). */
import assert from 'node:assert/strict';
import { agentKinds, kindsBeside } from '../../../src/core/agents/agents.js';

describe('the agents that a person may set up (G6)', () => {
  it('are all, but not Cursor within itself, which has the toolsets already (G1)', () => {
    assert.deepEqual(kindsBeside(false), agentKinds);
    assert.ok(agentKinds.includes('cursor'));
    assert.deepEqual(
      agentKinds.filter((kind) => !kindsBeside(true).includes(kind)),
      ['cursor'],
    );
  });
});
