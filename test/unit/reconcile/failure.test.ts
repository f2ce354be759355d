import assert from 'node:assert/strict';
import { redactedCause, type FailureCause } from '../../../src/core/reconcile/failure.js';

describe('failures of a server', () => {
  it('a failure holds no secret, nor does its remedy (E4)', () => {
    const redact = (text: string): string => text.replaceAll('s3cret', '…');
    const failure = {
      code: 'server-exited',
      message: 'It ended with s3cret.',
      fix: 'Correct s3cret.',
      path: [],
    } as const;
    const causes: FailureCause[] = [
      { kind: 'startFailed', failure },
      { kind: 'lost', cause: 'It said s3cret.', final: true },
    ];
    assert.deepEqual(
      causes.map((cause) => redactedCause(cause, redact)),
      [
        { kind: 'startFailed', failure: { ...failure, message: 'It ended with ….', fix: 'Correct ….' } },
        { kind: 'lost', cause: 'It said ….', final: true },
      ],
    );
  });
});
