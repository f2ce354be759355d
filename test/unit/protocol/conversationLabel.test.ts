/** The name of a conversation for people (E3). */
import assert from 'node:assert/strict';
import { conversationLabel } from '../../../src/core/protocol/conversationLabel.js';

describe('the name of a conversation', () => {
  for (const [conversation, name] of [
    ['d694395b-0000-4000-8000-000000000000', 'conversation d694395b'],
    ['minds-0a1b2c3d-0000', '@minds conversation 0a1b2c3d'],
    ['mcp-session:7f00aa11-0000.eyJ9', 'conversation 7f00aa11'],
    ['minds-', 'conversation minds-'],
    ['mcp-session:', 'conversation mcp-sess'],
  ] as const) {
    it(`conversation ${conversation} has the name ${name}`, () =>
      assert.equal(conversationLabel(conversation), name));
  }
});
