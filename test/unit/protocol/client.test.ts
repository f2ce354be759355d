import assert from 'node:assert/strict';
import { declaredCapabilities, capabilitiesKey, covers, refusal, union } from '../../../src/core/protocol/client.js';

describe('what servers are told of their clients (G4)', () => {
  it('only what they can use through us', () => {
    const vscode = {
      roots: { listChanged: true },
      sampling: {},
      elicitation: { form: {}, url: {} },
      tasks: { list: {} },
      experimental: { x: {} },
      extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['a'] }, other: {} },
    };
    assert.deepEqual(declaredCapabilities(vscode), {
      roots: { listChanged: true },
      sampling: {},
      elicitation: { form: {}, url: {} },
      extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['a'] } },
    });
    assert.deepEqual(declaredCapabilities({ elicitation: {}, roots: null, sampling: 'yes' }), {
      elicitation: { form: {} },
    });
  });

  it('an order of keys makes no difference, a kind of elicitation does', () => {
    assert.equal(
      capabilitiesKey({ sampling: {}, elicitation: { url: {}, form: {} } }),
      capabilitiesKey({ elicitation: { form: {}, url: {} }, sampling: {} }),
    );
    assert.notEqual(capabilitiesKey({ elicitation: {} }), capabilitiesKey({ elicitation: { form: {}, url: {} } }));
  });

  it('of several together all that one of them can do', () => {
    const both = union({ roots: {} }, { roots: { listChanged: true }, elicitation: { url: {} } });
    assert.deepEqual(declaredCapabilities(both), { roots: { listChanged: true }, elicitation: { url: {} } });
    assert.ok(covers(both, { roots: {} }));
    assert.ok(!covers({ roots: {} }, both));
    assert.ok(covers({ elicitation: {} }, { elicitation: { form: {} } }));
  });

  for (const [what, method, params, code] of [
    ['a form', 'elicitation/create', { message: 'x' }, undefined],
    ['a URL of a client that has forms alone', 'elicitation/create', { mode: 'url' }, -32602],
    ['sampling', 'sampling/createMessage', {}, undefined],
    ['sampling with tools of a client without', 'sampling/createMessage', { tools: [] }, -32602],
    ['roots of a client that has none', 'roots/list', undefined, -32601],
    ['what is not known', 'tasks/list', {}, -32601],
  ] as const) {
    it(`${what}: ${code === undefined ? 'asked' : `refused with ${code}`}`, () => {
      assert.equal(refusal({ elicitation: {}, sampling: {} }, method, params)?.code, code);
    });
  }
});
