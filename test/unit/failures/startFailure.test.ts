/** The remedies of failed starts, for answers that are no refusal and for lists that are too long (X3a). */
import assert from 'node:assert/strict';
import { initializeRefused, listFailed } from '../../../src/core/failures/startFailure.js';
import { errorCodes } from '../../../src/core/protocol/errors.js';
import { notAnObject } from '../../../src/core/protocol/jsonRpc.js';

describe('remedies of failed starts (X3a)', () => {
  for (const result of ['null', '7', '"text"', '[1]'])
    it(`an answer without an object is quoted, and no number of ours is the remedy: ${result}`, () => {
      const { code, message, fix } = initializeRefused({
        code: errorCodes.internal,
        message: `${notAnObject}${result}`,
      });
      assert.equal(code, 'server-protocol');
      assert.equal(message, `answered initialize with \`${result}\`.`);
      assert.match(fix, /does not follow the MCP specification/);
    });

  it('a refusal of initialize ends with a full stop before the remedy', () => {
    const refused = (message: string): string =>
      initializeRefused({ code: -32602, message }).message;
    assert.equal(
      refused('Unsupported client'),
      'refused initialize with error -32602: Unsupported client.',
    );
    assert.equal(refused('Go away!'), 'refused initialize with error -32602: Go away!');
  });

  it('a list that is too long has a remedy other than a restart', () => {
    const long = listFailed('The server lists more than 10000 tools.');
    assert.match(long.fix, /list fewer/);
    assert.doesNotMatch(long.fix, /restart/);
    assert.match(listFailed('tools/list failed: x').fix, /restart/);
  });
});
