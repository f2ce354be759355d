import assert from 'node:assert/strict';
import { capabilitiesKey } from '../../../../src/core/protocol/client.js';
import { EditorClient } from '../../../../src/vscode/engine/editorClient.js';

describe('the editor as an expected client (G4, L4)', () => {
  const kept = new Map<string, unknown>();
  const store = {
    get: (key: string) => kept.get(key),
    update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)),
  };
  const roots = () => [{ uri: 'file:///a', name: 'a' }];
  beforeEach(() => kept.clear());

  it('predicts the usual capabilities of VS Code until the first connection', () => {
    const editor = new EditorClient(store, roots);
    assert.deepEqual(Object.keys(editor.expected().capabilities), ['roots', 'sampling', 'elicitation', 'extensions']);
    assert.deepEqual(editor.expected().roots(), roots());
    editor.note({ roots: {} });
    assert.deepEqual(new EditorClient(store, roots).expected().capabilities, { roots: {} });
  });

  it('ignores a stored value of another form', () => {
    kept.set('mcpToolsets.editorCapabilities', ['x']);
    assert.notEqual(capabilitiesKey(new EditorClient(store, roots).expected().capabilities), '{}');
  });
});
