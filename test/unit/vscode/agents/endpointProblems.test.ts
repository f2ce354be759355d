/** Problems of the addresses for agents (G2, G6). */
import assert from 'node:assert/strict';
import {
  agentEndpointProblem,
  agentsWindowProblem,
} from '../../../../src/vscode/agents/endpointProblems.js';

const codeOf = (isOfInterest: boolean, support: unknown): string | undefined =>
  agentsWindowProblem(isOfInterest, support)?.code;

describe('an Agents window in which the extension does not run', () => {
  it('an Agents window without the extension is reported to a person who uses agent-host sessions', () => {
    assert.equal(codeOf(true, {}), 'agents-window-off');
    assert.equal(
      codeOf(true, { 'minds.mcp-toolsets': false, 'other.one': true }),
      'agents-window-off',
    );
  });

  it('an Agents window is not reported to other people, if the extension runs there, or without the setting', () => {
    assert.equal(codeOf(false, {}), undefined);
    assert.equal(codeOf(true, { 'minds.mcp-toolsets': true }), undefined);
    assert.equal(codeOf(true, undefined), undefined);
  });
});

describe('a port that the settings of a workspace ask for', () => {
  it('a port of the workspace is reported until the person chooses it', () => {
    const problem = agentEndpointProblem(undefined, 7000);
    assert.equal(problem?.code, 'endpoint-port-unconfirmed');
    assert.match(problem?.message ?? '', /port 7000/);
    assert.equal(agentEndpointProblem(undefined), undefined);
  });
});
