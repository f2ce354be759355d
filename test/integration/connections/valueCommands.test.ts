/** Programs that print values (C2), with a clock that is played: their time limit, and starts that share a run. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import type { CommandReference } from '../../../src/core/config/read/launchReferences.js';
import { Guardian } from '../../../src/core/processes/guardian.js';
import { Jobs } from '../../../src/core/processes/jobs.js';
import { ValueCommands } from '../../../src/core/connections/stdio/valueCommands.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { silentLog } from '../../support/fakes/silentLog.js';

const mark = `values-${randomBytes(6).toString('hex')}.`;

describe('programs that print values', () => {
  const keeper =
    process.platform === 'win32'
      ? new Jobs()
      : new Guardian({ mark, script: undefined, execPath: process.execPath, env: process.env });
  let clock: FakeClock;
  let commands: ValueCommands;
  let started = 0;

  beforeEach(() => {
    clock = new FakeClock();
    commands = new ValueCommands({
      env: process.env,
      clock,
      process: () => ({ mark: `${mark}${++started}.`, keeper }),
    });
  });

  after(() => keeper.dispose());

  const reference = (script: string): CommandReference => ({
    source: { kind: 'command', argv: [process.execPath, '-e', script], cwd: tmpdir() },
    path: ['env', 'T'],
  });
  const hanging = reference("console.log('too early'); setInterval(() => {}, 1000)");
  const outputs = (one: CommandReference, signal = new AbortController().signal) =>
    commands.outputsFor([one], silentLog, signal);

  it('are stopped after 60 s', async () => {
    const result = outputs(hanging);
    await clock.untilScheduled(60_000);
    clock.advance(60_000);
    const outcome = await result;
    assert.ok(outcome.kind === 'failed' && /longer than 60 s/.test(outcome.failure.message), JSON.stringify(outcome));
    assert.doesNotMatch(JSON.stringify(outcome.failure.message.split('\nCommand: ')[0]), /too early/);
  });

  it('are quoted with whole words of stderr, by which a secret is known (E4)', async () => {
    const secret = 'hunter2-blue-parrot-on-the-wall';
    for (const length of [4_096 - 26, 70_000]) {
      const script = `process.stderr.write('${secret} ' + 'trace '.repeat(12_000).slice(0, ${length})); process.exitCode = 1`;
      const outcome = await outputs(reference(script));
      assert.ok(outcome.kind === 'failed');
      const [said = ''] = outcome.failure.message.split('\nCommand: ');
      assert.doesNotMatch(said.replaceAll(secret, ''), /parrot|wall/);
    }
  });

  it('go on while one of several starts still wants what they print', async () => {
    const one = reference("setTimeout(() => console.log('value'), 200)");
    const before = started;
    const unwanted = new AbortController();
    const [first, second] = [outputs(one, unwanted.signal), outputs(one)];
    unwanted.abort();
    assert.equal((await first).kind, 'cancelled');
    const known = await second;
    assert.equal(known.kind === 'known' && known.of(one.source), 'value');
    assert.equal(started - before, 1);
  });

  it('are begun anew by a start that comes when the last one has just gone', async () => {
    const unwanted = new AbortController();
    const one = reference("console.log('value')");
    const first = outputs(one, unwanted.signal);
    unwanted.abort();
    const second = await outputs(one);
    assert.deepEqual([(await first).kind, second.kind], ['cancelled', 'known']);
  });
});
