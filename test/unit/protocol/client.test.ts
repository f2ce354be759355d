import assert from 'node:assert/strict';
import {
  declaredCapabilities,
  capabilitiesKey,
  covers,
  type Fields,
  refusal,
  union,
} from '../../../src/core/protocol/client.js';

describe('the capabilities that servers see of their clients (G4)', () => {
  it('servers see only capabilities that this client passes on', () => {
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

  it('two clients differ by a kind of elicitation, but not by the order of keys', () => {
    assert.equal(
      capabilitiesKey({ sampling: {}, elicitation: { url: {}, form: {} } }),
      capabilitiesKey({ elicitation: { form: {}, url: {} }, sampling: {} }),
    );
    assert.notEqual(
      capabilitiesKey({ elicitation: {} }),
      capabilitiesKey({ elicitation: { form: {}, url: {} } }),
    );
  });

  it('the union of several clients has every capability of each of them', () => {
    const both = union({ roots: {} }, { roots: { listChanged: true }, elicitation: { url: {} } });
    assert.deepEqual(declaredCapabilities(both), {
      roots: { listChanged: true },
      elicitation: { url: {} },
    });
    assert.ok(covers(both, { roots: {} }));
    assert.ok(!covers({ roots: {} }, both));
    assert.ok(covers({ elicitation: {} }, { elicitation: { form: {} } }));
  });

  const ui = (settings: Fields): Fields => ({
    extensions: { 'io.modelcontextprotocol/ui': settings },
  });
  for (const [what, one, other] of [
    ['types that differ', ui({ mimeTypes: ['a', 'b'] }), ui({ mimeTypes: ['c', 'b'] })],
    ['settings that cannot both be', ui({ theme: 'light' }), ui({ theme: 'dark' })],
    ['kinds of one setting', ui({ theme: 'light' }), ui({ theme: { name: 'dark' } })],
    ['a setting that is off', { roots: { listChanged: true } }, { roots: { listChanged: false } }],
    [
      'kinds of elicitation, one of them implied',
      { elicitation: {} },
      { elicitation: { url: {} } },
    ],
    ['invalid capabilities', { sampling: 'yes', roots: null }, { sampling: {}, roots: {} }],
  ] as const satisfies readonly (readonly [string, Fields, Fields])[]) {
    it(`the union of two clients covers each of them, so they never exclude each other: ${what}`, () => {
      for (const both of [union(one, other), union(other, one)]) {
        assert.deepEqual(
          [covers(both, one), covers(both, other)],
          [true, true],
          JSON.stringify(both),
        );
        assert.deepEqual(union(union(both, one), other), both, 'nothing is added any more');
      }
    });
  }

  for (const [what, method, params, code] of [
    ['a form', 'elicitation/create', { message: 'x' }, undefined],
    ['a URL from a client with only forms', 'elicitation/create', { mode: 'url' }, -32602],
    ['sampling', 'sampling/createMessage', {}, undefined],
    [
      'sampling with tools from a client without them',
      'sampling/createMessage',
      { tools: [] },
      -32602,
    ],
    ['roots from a client without them', 'roots/list', undefined, -32601],
    ['an unknown feature', 'tasks/list', {}, -32601],
  ] as const) {
    it(`a request for ${what} is ${code === undefined ? 'allowed' : `refused with ${code}`}`, () => {
      assert.equal(refusal({ elicitation: {}, sampling: {} }, method, params)?.code, code);
    });
  }
});
