import assert from 'node:assert/strict';
import { capabilitiesKey, type Fields } from '../../../src/core/protocol/client.js';
import { LastClient, usualOfEditor } from '../../../src/core/remembered/lastClient.js';

describe('the last client as the expected one (G4, L4)', () => {
  let kept: unknown;
  const roots = () => [{ uri: 'file:///a', name: 'a' }];
  const client = (): LastClient =>
    new LastClient({
      get: () => kept,
      update: (capabilities: Fields) => Promise.resolve(void (kept = capabilities)),
      roots,
      usual: usualOfEditor,
    });
  beforeEach(() => (kept = undefined));

  it('predicts the usual capabilities until the first connection', () => {
    const editor = client();
    assert.deepEqual(Object.keys(editor.expected().capabilities), [
      'roots',
      'sampling',
      'elicitation',
      'extensions',
    ]);
    assert.deepEqual(editor.expected().roots(), roots());
    editor.note({ roots: {} });
    assert.deepEqual(client().expected().capabilities, { roots: {} });
  });

  it('ignores a stored value of another form', () => {
    kept = ['x'];
    assert.notEqual(capabilitiesKey(client().expected().capabilities), '{}');
  });
});
