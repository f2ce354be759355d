import assert from 'node:assert/strict';
import { withNotes } from '../../../src/core/results/forEditor.js';

const own = { type: 'text' as const, text: 'own' };
const note = { type: 'text' as const, text: 'note' };

describe('notes beside a result (L3)', () => {
  it('a result without notes stays the same', () => {
    const result = { content: [own] };
    assert.equal(withNotes(result, [], true), result);
  });

  it('notes come after the tool’s own content, also of an error', () => {
    assert.deepEqual(withNotes({ content: [own], isError: true }, ['note'], true), {
      content: [own, note],
      isError: true,
    });
  });

  it('notes leave structured content to clients that read both', () => {
    const result = { content: [own], structuredContent: { a: 1 } };
    assert.deepEqual(withNotes(result, ['note'], false), {
      content: [own, note],
      structuredContent: { a: 1 },
    });
  });

  it('notes turn structured content into text if it would hide them', () => {
    const result = { content: [], structuredContent: { a: 1 } };
    assert.deepEqual(withNotes(result, ['note'], true), {
      content: [{ type: 'text', text: '{"a":1}' }, note],
    });
  });

  it('notes come with a result without content', () => {
    assert.deepEqual(withNotes({} as never, ['note'], false), { content: [note] });
  });
});
