import assert from 'node:assert/strict';
import { validServers } from '../../../src/core/authoring/validServers.js';

describe('the valid servers of a text', () => {
  const file = (body: string): string => `version: 1\nservers:\n  a: { ${body} }\n  b: {}\n`;
  const idsIn = (text: string): string[] => validServers(text).map(({ id }) => id);

  it('a server with an error is none of them, and costs no other', () => {
    assert.deepEqual(idsIn(file('transport: stdio, command: x')), ['a']);
    assert.deepEqual(idsIn(file('command: x')), []);
  });

  for (const body of [
    'transport: stdio, command: x, cwd: gone, env: { A: { secret: NONE }, B: { env: NOT_SET } }',
    'transport: streamable_http, url: { env: NOT_SET }',
    "transport: streamable_http, url: { prefix: 'https://x.test/?k=', secret: NONE }",
  ]) {
    it(`a missing folder, secret or variable is no error here: ${body}`, () =>
      assert.deepEqual(idsIn(file(body)), ['a']));
  }

  it('a text that is not YAML, and an empty one, have none', () => {
    assert.deepEqual([idsIn('version: [1'), idsIn('')], [[], []]);
  });

  it('a server is joined with the layer over it (C7)', () => {
    const layer =
      'version: 1\nservers: { a: { tools: { override: { t: { description: d } } } }, c: {} }';
    const [server, ...more] = validServers(file('transport: stdio, command: x'), layer);
    assert.equal(server?.overrides?.get('t')?.description, 'd');
    assert.deepEqual(more, []);
  });

  it('a server has its overrides', () => {
    const [server] = validServers(
      file('transport: stdio, command: x, tools: { override: { t: { description: d } } }'),
    );
    assert.equal(server?.overrides?.get('t')?.description, 'd');
  });
});
