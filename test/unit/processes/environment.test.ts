import assert from 'node:assert/strict';
import { overlaid } from '../../../src/core/processes/environment.js';

describe('the environment of a server (C2)', () => {
  const isWindows = process.platform === 'win32';

  it('variables of the server replace variables of the host', () => {
    assert.deepEqual(overlaid({ A: '1', B: '2' }, [['B', '3']]), { A: '1', B: '3' });
    assert.deepEqual(overlaid({ Path: '1' }, [['PATH', '2']]), isWindows ? { PATH: '2' } : { Path: '1', PATH: '2' });
  });

  // Two of these names are the same variable on Windows, and the last one in the object counts.
  it('an environment is the same in any order of the variables, because nobody approved the order (S1)', () => {
    const own = [
      ['PATH', 'a'],
      ['Path', 'b'],
      ['OTHER', 'c'],
    ] as const;
    assert.equal(JSON.stringify(overlaid({}, own.toReversed())), JSON.stringify(overlaid({}, own)));
  });
});
