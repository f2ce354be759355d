import assert from 'node:assert/strict';
import { described, type FailureCause } from '../../../src/core/reconcile/failure.js';
import { parseMindsFile } from '../../../src/core/config/read/parse.js';

describe('failures of a server', () => {
  it('a failure holds no secret, nor do its remedy and its problem (E4)', () => {
    const redact = (text: string): string => text.replaceAll('s3cret', '…');
    const failure = {
      code: 'server-exited',
      message: 'It ended with s3cret.',
      fix: 'Correct s3cret.',
      path: [],
    } as const;
    const causes: FailureCause[] = [
      { kind: 'startFailed', failure },
      { kind: 'lost', cause: 'It said s3cret.', final: true, count: 4 },
    ];
    const text = 'version: 1\nservers:\n  a: { transport: stdio, command: x }\n';
    const parsed = parseMindsFile(
      { file: '/ws/f', folder: '/ws', text },
      { env: {}, directoryExists: () => true },
    );
    const places = parsed.kind === 'accepted' ? parsed.servers[0]?.places : undefined;
    assert.ok(places);
    const [started, lost] = causes.map((cause) => described(cause, redact));
    assert.deepEqual(started?.start, {
      ...failure,
      message: 'It ended with ….',
      fix: 'Correct ….',
    });
    assert.deepEqual([started.reason, started.fix], ['It ended with ….', 'Correct ….']);
    assert.equal(
      lost?.reason,
      'It ended again and again, so it is no longer restarted: It said ….',
    );
    const problems = [started, lost].flatMap((one) => one.problems({ server: 'a', places }));
    assert.equal(problems.length, 2);
    assert.doesNotMatch(JSON.stringify([started, lost, problems]), /s3cret/);
  });
});
