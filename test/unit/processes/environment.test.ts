import assert from 'node:assert/strict';
import { overlaid } from '../../../src/core/processes/environment.js';

describe('environment of a server (C2)', () => {
  const isWindows = process.platform === 'win32';

  it('has the variables of the server in the place of those of the host', () => {
    assert.deepEqual(overlaid({ A: '1', B: '2' }, [['B', '3']]), { A: '1', B: '3' });
    assert.deepEqual(overlaid({ Path: '1' }, [['PATH', '2']]), isWindows ? { PATH: '2' } : { Path: '1', PATH: '2' });
  });

  // On Windows, where two of these names are one, the last in the object is what counts.
  it('an environment is the same in any order of the variables, because nobody approved the order (S1)', () => {
    const own = [
      ['PATH', 'a'],
      ['Path', 'b'],
      ['OTHER', 'c'],
    ] as const;
    assert.equal(JSON.stringify(overlaid({}, own.toReversed())), JSON.stringify(overlaid({}, own)));
  });
});
