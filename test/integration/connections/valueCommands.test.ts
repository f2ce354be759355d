/**
 * Rule C2c: programs that print values, their time limit, and starts that share a run. The clock is
 * fake.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import type { CommandReference } from '../../../src/core/config/launchValues.js';
import { Guardian } from '../../../src/core/processes/guardian.js';
import { Jobs } from '../../../src/core/processes/jobs.js';
import { ValueCommands } from '../../../src/core/connections/stdio/valueCommands.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { silentLog } from '../../support/fakes/silentLog.js';

const mark = `values-${randomBytes(6).toString('hex')}.`;

describe('programs that print values (C2c)', () => {
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
      env: () => process.env,
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

  it('a program that prints a value is stopped after 60 s', async () => {
    const result = outputs(hanging);
    await clock.untilScheduled(60_000);
    clock.advance(60_000);
    const outcome = await result;
    assert.ok(
      outcome.kind === 'failed' && /longer than 60 s/.test(outcome.failure.message),
      JSON.stringify(outcome),
    );
    assert.doesNotMatch(
      JSON.stringify(outcome.failure.message.split('\nCommand: ')[0]),
      /too early/,
    );
  });

  it('quoted stderr has whole words, so secrets in it are recognized (E4)', async () => {
    const secret = 'hunter2-blue-parrot-on-the-wall';
    for (const length of [4_096 - 26, 70_000]) {
      const script = `process.stderr.write('${secret} ' + 'trace '.repeat(12_000).slice(0, ${length})); process.exitCode = 1`;
      const outcome = await outputs(reference(script));
      assert.ok(outcome.kind === 'failed');
      const [said = ''] = outcome.failure.message.split('\nCommand: ');
      assert.doesNotMatch(said.replaceAll(secret, ''), /parrot|wall/);
    }
  });

  it('a program keeps running while one of its starts still needs the value', async () => {
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

  it('a start runs the program again if the previous start was just cancelled', async () => {
    const unwanted = new AbortController();
    const one = reference("console.log('value')");
    const first = outputs(one, unwanted.signal);
    unwanted.abort();
    const second = await outputs(one);
    assert.deepEqual([(await first).kind, second.kind], ['cancelled', 'known']);
  });
});
