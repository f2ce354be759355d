/** Problems of the addresses for agents (G2, G3b, G6). */
import assert from 'node:assert/strict';
import { agentsWindowProblems, endpointProblems } from '../../../../src/vscode/agents/endpointProblems.js';

const place = {
  file: '/ws/.minds/mcp.yaml',
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
};
const codes = (isOfInterest: boolean, support: unknown, at: typeof place | undefined = place): string[] =>
  agentsWindowProblems({ isOfInterest, support }, at).map(({ code }) => code);

describe('an Agents window in which the extension does not run', () => {
  it('an Agents window without the extension is reported to a person who uses agent-host sessions', () => {
    assert.deepEqual(codes(true, {}), ['agents-window-off']);
    assert.deepEqual(codes(true, { 'minds.mcp-toolsets': false, 'other.one': true }), ['agents-window-off']);
  });

  it('an Agents window is not reported to other people, if the extension runs there, or without the setting', () => {
    assert.deepEqual(codes(false, {}), []);
    assert.deepEqual(codes(true, { 'minds.mcp-toolsets': true }), []);
    assert.deepEqual(codes(true, undefined), []);
    assert.deepEqual(agentsWindowProblems({ isOfInterest: true, support: {} }, undefined), []);
  });
});

describe('a port that the settings of a workspace ask for', () => {
  it('a port of the workspace is reported until the person chooses it', () => {
    const [problem, ...others] = endpointProblems({ kind: 'off' }, place, 7000);
    assert.deepEqual([problem?.code, others], ['endpoint-port-unconfirmed', []]);
    assert.match(problem?.message ?? '', /port 7000/);
    assert.deepEqual(endpointProblems({ kind: 'off' }, place), []);
  });
});
