import assert from 'node:assert/strict';
import { announced, announcementKey, covers, refusal, union } from '../../../src/core/protocol/client.js';

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
    assert.deepEqual(announced(vscode), {
      roots: { listChanged: true },
      sampling: {},
      elicitation: { form: {}, url: {} },
      extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['a'] } },
    });
    assert.deepEqual(announced({ elicitation: {}, roots: null, sampling: 'yes' }), { elicitation: { form: {} } });
  });

  it('an order of keys makes no difference, a kind of elicitation does', () => {
    assert.equal(
      announcementKey({ sampling: {}, elicitation: { url: {}, form: {} } }),
      announcementKey({ elicitation: { form: {}, url: {} }, sampling: {} }),
    );
    assert.notEqual(announcementKey({ elicitation: {} }), announcementKey({ elicitation: { form: {}, url: {} } }));
  });

  it('of several together all that one of them can do', () => {
    const both = union({ roots: {} }, { roots: { listChanged: true }, elicitation: { url: {} } });
    assert.deepEqual(announced(both), { roots: { listChanged: true }, elicitation: { url: {} } });
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
