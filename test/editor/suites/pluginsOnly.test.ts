/** The policy that allows tools of plugins only (E1). No person can set it in a window. */
import assert from 'node:assert/strict';
import { toolIds, untilProblems } from '../../support/editor/product.ts';

describe('an organisation that allows only tools of plugins', () => {
  it('The policy is named in the problem of each toolset that the editor keeps out (E1)', async () => {
    const [problem] = await untilProblems(['editor-toolset-hidden alpha']);
    assert.match(
      problem?.message ?? '',
      /"chat\.customizations\.strictPluginOnlyCustomization" is true/,
    );
    assert.deepEqual(toolIds(), []);
  });
});
