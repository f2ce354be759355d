/** The agents with entries for a person's choice (G6). */
import assert from 'node:assert/strict';
import { agentKinds, kindsBeside } from '../../../src/core/agents/agents.js';

describe('the agents for a person’s choice (G6)', () => {
  it('all agents are offered, except Cursor within Cursor, because it has the toolsets already (G1)', () => {
    assert.deepEqual(kindsBeside(false), agentKinds);
    assert.ok(agentKinds.includes('cursor'));
    assert.deepEqual(
      agentKinds.filter((kind) => !kindsBeside(true).includes(kind)),
      ['cursor'],
    );
  });
});
