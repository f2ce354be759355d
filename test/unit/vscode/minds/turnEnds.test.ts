import assert from 'node:assert/strict';
import type { TurnEnd } from '../../../../src/core/minds/conversation.js';
import { ModelProblems } from '../../../../src/vscode/minds/modelProblems.js';
import { reportEnd } from '../../../../src/vscode/minds/turnEnds.js';
import { FakeModel } from '../../minds/fakes.js';
import { Lines } from '../../results/folder.js';
import { problem, toolset } from '../views/statuses.js';
import { FakeStream } from './stream.js';

describe('the end of a turn', () => {
  function told(end: TurnEnd, messages: readonly unknown[] = [{}]) {
    const stream = new FakeStream();
    const log = new Lines();
    const problems = new ModelProblems(() => {});
    const earlier = { kind: 'stopped', why: { kind: 'rejected', text: '' } } as const;
    problems.refused({
      conversation: 'mine',
      vendor: '',
      model: '',
      end: earlier,
      toolset: undefined,
      text: '',
    });
    const before = problems.problems([], () => problem().place).length;
    const error = reportEnd(
      { end, messages: messages as never },
      {
        stream: stream,
        conversation: 'mine',
        model: new FakeModel([]),
        toolsets: [toolset('shop', 'shop_count')],
        problems,
        log,
        redact: (text) => text.replaceAll('s3cret', '***'),
      },
    );
    const after = problems.problems([toolset('shop', 'shop_count')], () => problem().place);
    return { said: stream.text, error, log: log.lines, before, after };
  }

  const stopped = (kind: 'rejected' | 'unknown' | 'unavailable', tool?: string): TurnEnd => ({
    kind: 'stopped',
    why: { kind, text: 'no s3cret\nhere.' },
    ...(tool !== undefined && { tool }),
  });

  it('a good end clears the earlier problem of the conversation', () => {
    const { said, error, before, after } = told({ kind: 'answered' });
    assert.deepEqual([said, error, before, after], ['', undefined, 1, []]);
    assert.equal(told({ kind: 'answered' }, []).said, '*Fake gave no answer.*');
    assert.deepEqual(
      [told({ kind: 'cancelled' }).said, told({ kind: 'cancelled' }).error],
      ['', undefined],
    );
  });

  it('an end at the limit of steps names the limit and offers to continue', () => {
    const { said, error } = told({ kind: 'stepLimit', steps: 25 });
    assert.match(
      said,
      /after 25 requests.*`mcpToolsets\.minds\.maxSteps`[^]*<button Continue: mcpToolsets\.minds\.continue>/,
    );
    assert.equal(error, undefined);
  });

  it('a refusal is an error, a problem and a line of the log, without secrets', () => {
    const { said, error, log, after } = told(stopped('rejected', 'shop_count'));
    assert.equal(
      error,
      'The provider "fake" of Fake refused the request because of the tool shop_count: no *** here. It is not sent again automatically.',
    );
    assert.match(said, /Continue/);
    assert.deepEqual(log, ['warn: Conversation mine stopped (rejected): fake/Fake: no *** here']);
    assert.deepEqual(
      after.map(({ code, server }) => [code, server]),
      [['model-rejected', 'shop']],
    );
    assert.match(told(stopped('unknown')).error ?? '', /failed at the request: no \*\*\* here\./);
  });

  it('an unavailable model or a silent provider causes a message with a remedy', () => {
    assert.equal(
      told(stopped('unavailable')).error,
      'Fake cannot be used: no *** here. Choose another model, or sign in.',
    );
    const exhausted = { kind: 'exhausted', text: 'socket hang up', attempts: 4 } as const;
    assert.match(
      told({ kind: 'stopped', why: exhausted }).error ?? '',
      /did not answer, after 4 attempts: socket hang up/,
    );
  });
});
