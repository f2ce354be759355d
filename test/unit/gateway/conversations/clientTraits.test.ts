/** The content of a session id, read without trust. */
import assert from 'node:assert/strict';
import { newSessionId, traitsIn } from '../../../../src/core/gateway/conversations/clientTraits.js';

describe('gateway: ids of sessions', () => {
  const version = '2025-11-25';
  const said = {
    version,
    declared: {},
    readsStructureAlone: false,
    namer: undefined,
    agentHost: undefined,
  } as const;

  for (const [declared, readsStructureAlone] of [
    [{}, false],
    [{}, true],
    [{ elicitation: {}, roots: { listChanged: true } }, true],
  ] as const) {
    it(`a session id carries ${JSON.stringify(declared)} and ${readsStructureAlone}`, () => {
      const traits = { ...said, declared, readsStructureAlone };
      const [one, two] = [newSessionId(traits), newSessionId(traits)];
      assert.notEqual(one, two);
      assert.deepEqual(traitsIn(one), traits);
      assert.match(one, /^[\x21-\x7e]+$/, 'as the protocol wants it');
    });
  }

  it('a session id stays short if the client declares much', () => {
    const id = newSessionId({ ...said, declared: { extensions: { x: 'y'.repeat(2_000) } } });
    assert.ok(id.length < 80);
    assert.deepEqual(traitsIn(id), said);
  });

  it('a session id carries the program in any script', () => {
    const program = {
      ...said,
      readsStructureAlone: true,
      namer: 'codex-mcp-client',
      agentHost: '編'.repeat(80),
    };
    const declared = { extensions: { x: 'é'.repeat(100) } };
    assert.deepEqual(traitsIn(newSessionId({ ...program, declared })), program);
  });

  it('a session id carries no unknown version', () => {
    const id = `8f3c3f0e-6f63-4a3f-8b1e-0123456789ab.${Buffer.from('{"version":"1999-01-01"}').toString('base64url')}`;
    assert.deepEqual(traitsIn(id), { ...said, version: undefined });
  });

  const uuid = '8f3c3f0e-6f63-4a3f-8b1e-0123456789ab';
  const encoded = (text: string): string => Buffer.from(text).toString('base64url');
  for (const id of [
    '',
    'nope',
    `${uuid}.`,
    `${uuid}.!`,
    `${uuid}.${encoded('[1]')}`,
    `${uuid}.${encoded('{')}`,
    `x${uuid}`,
  ]) {
    it(`${JSON.stringify(id)} is not one of our session ids`, () =>
      assert.equal(traitsIn(id), undefined));
  }
});
