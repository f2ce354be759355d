/** The end of an engine without clients (G6d). */
import assert from 'node:assert/strict';
import { visitsOf } from '../../../src/cli/serveCommand.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('the clients of an engine', () => {
  it('an engine ends when no client was there for a minute, counted from its start and from the last client (G6d)', () => {
    const clock = new FakeClock();
    const ended = (): boolean => visits.ended.aborted;
    const visits = visitsOf(clock, 60_000);
    clock.advance(59_999);
    visits.note(1);
    visits.note(2);
    clock.advance(600_000);
    visits.note(1);
    clock.advance(600_000);
    assert.equal(ended(), false);
    visits.note(0);
    clock.advance(59_999);
    visits.note(1);
    visits.note(0);
    clock.advance(59_999);
    assert.equal(ended(), false);
    clock.advance(1);
    assert.deepEqual([ended(), clock.pending], [true, 0]);
  });
});
