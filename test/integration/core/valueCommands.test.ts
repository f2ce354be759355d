/**
 * `{ command: [...] }` with real programs, servers and addresses (C2c): their time, their receivers
 * and their visibility.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../src/core/base/clock.js';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import { watchFile } from '../../../src/core/files/watchedFile.js';
import { fixture, http, type Entry } from '../../support/core/configText.js';
import { within } from '../../support/core/within.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const canary = (name: string): string => `canary-${name}-5ca1ab1e`;
const anyCanary = /canary-[a-z]+-5ca1ab1e/;

describe('core: values that programs print', () => {
  let stage: Stage;
  let files = 0;

  beforeEach(async () => {
    stage = await startStage({ trace: true });
  });

  afterEach(endStages);

  const node = (script: string, ...args: string[]): Entry => ({
    command: [process.execPath, '-e', script, ...args],
  });
  /** Prints a value that is only in a file, and leaves a mark for each run. */
  const printing = (value: string): Entry => {
    const file = `${(files += 1)}.txt`;
    writeFileSync(path.join(stage.folder, file), `${value}\r\n\n`);
    return node(
      "const fs = require('fs'); fs.appendFileSync('runs', 'x'); console.log(fs.readFileSync(process.argv[1], 'utf8'))",
      file,
    );
  };
  const runs = (): number => {
    const file = path.join(stage.folder, 'runs');
    return existsSync(file) ? readFileSync(file, 'utf8').length : 0;
  };
  const failing = (message: RegExp): void => {
    const problem = stage.problem('value-command-failed');
    assert.match(problem.message, message);
    const line = readFileSync(stage.file, 'utf8').split('\n')[problem.place.range.start.line];
    assert.match(line ?? '', /GIVEN|Given/, 'the problem stands at the value');
    assert.equal(stage.server('a').state.kind, 'failed');
  };

  it('Printed values reach env and arguments, and no log, problem or status (E4)', async () => {
    const args = [{ ...printing(canary('argument')), prefix: '--token=', suffix: '!' }];
    await stage.edit({
      a: fixture('raw', args as unknown as string[], { env: { GIVEN: printing(canary('env')) } }),
    });
    assert.equal(await stage.text('a', 'env', { name: 'GIVEN' }), canary('env'));
    assert.match(await stage.text('a', 'args'), new RegExp(`--token=${canary('argument')}!`));
    await stage.outcome('a', 'stderr', { text: `told ${canary('env')} and ${canary('argument')}` });
    await stage.logs.until(({ message }) => message.includes('[stderr] told'), 'stderr');
    assert.doesNotMatch(stage.logs.text() + JSON.stringify(stage.host.snapshot), anyCanary);
    assert.match(stage.logs.text(), /\[stderr\] told ••• and •••/);
  });

  it('Printed values reach addresses and headers', async () => {
    const server = await stage.http('http');
    const headers = { GIVEN: { ...printing(canary('header')), prefix: 'Bearer ' } };
    const [origin, rest] = [
      new URL(server.url).origin,
      server.url.slice(new URL(server.url).origin.length),
    ];
    await stage.edit({
      a: { ...http('', { headers }), url: { ...printing(rest.slice(1)), prefix: `${origin}/` } },
    });
    assert.match(await stage.text('a', 'headers'), new RegExp(`Bearer ${canary('header')}`));
  });

  it('Value commands run once for all servers that start together, and again with the next start', async () => {
    const given = printing('one');
    const entry = (id: string): Entry =>
      fixture('raw', [], { env: { GIVEN: given }, transform: [{ prefix: `${id}_` }] });
    const servers = { a: entry('a'), b: entry('b'), c: entry('c') };
    await stage.edit(servers);
    for (const id of ['a', 'b', 'c'])
      assert.equal(await stage.text(id, `${id}_env`, { name: 'GIVEN' }), 'one');
    assert.equal(runs(), 1);
    writeFileSync(path.join(stage.folder, `${files}.txt`), 'two');
    await stage.edit(servers);
    assert.equal(runs(), 1, 'an edit that changes nothing runs nothing');
    await stage.host.restart('a');
    assert.equal(await stage.text('a', 'a_env', { name: 'GIVEN' }), 'two');
    assert.equal(runs(), 2);
  });

  it('Value commands do not run before a person has approved them (S1)', async () => {
    let verdict: 'pending' | 'approved' = 'pending';
    const changes = new Emitter<void>();
    stage = await startStage({
      approvals: { judge: () => verdict, isKept: () => true, onDidChange: changes.event },
    });
    await stage.edit({ a: fixture('raw', [], { env: { GIVEN: printing('value') } }) });
    assert.equal(stage.server('a').state.kind, 'pending');
    await stage.host.start('a');
    assert.equal(runs(), 0);
    verdict = 'approved';
    changes.fire();
    await stage.until(({ servers: [server] }) => server?.state.kind === 'running', 'the server');
    assert.equal(runs(), 1);
    changes.dispose();
  });

  const failures: [string, Entry, RegExp][] = [
    [
      'ends with an error',
      node(
        "console.log('canary-printed-5ca1ab1e'); console.error('you are not signed in'); process.exit(3)",
      ),
      /exited with code 3; last on stderr:\n {2}“you are not signed in”/,
    ],
    ['prints nothing', node(''), /printed nothing/],
    [
      'prints too much',
      node("process.stdout.write('x'.repeat(70000)); setInterval(() => {}, 1000)"),
      /more than 64 KiB/,
    ],
    ['is not there', { command: ['no-such-program-here'] }, /none of the \d+ folders of PATH/],
    ['is no file', { command: ['./no-such-program'] }, /does not exist/],
  ];
  for (const [what, given, message] of failures)
    it(`Value commands are a problem at their place if the program ${what}`, async () => {
      await stage.edit({ a: fixture('raw', [], { env: { GIVEN: given } }) });
      failing(message);
      assert.doesNotMatch(
        stage.problem('value-command-failed').message.replace(/"console[^\n]*/, ''),
        anyCanary,
      );
    });

  it('Value commands in the wrong place are a problem', async () => {
    const server = await stage.http('http');
    await stage.edit({ a: http(server.url, { headers: { Given: node("console.log('a\\nb')") } }) });
    failing(/cannot be the value of header `Given`/);
  });

  it('Value commands end with their whole tree, despite a held output and when no server needs them (X5)', async () => {
    const child =
      "require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });";
    await stage.edit({
      a: fixture('raw', [], {
        env: { GIVEN: node(`${child} console.log('value'); process.exit(0)`) },
      }),
    });
    assert.equal(await stage.text('a', 'env', { name: 'GIVEN' }), 'value');
    const hanging = node(
      `${child} require('fs').appendFileSync('runs', 'x'); setInterval(() => {}, 1000)`,
    );
    stage.save({ a: fixture('raw', [], { env: { GIVEN: hanging } }) });
    const edit = stage.host.setSources([
      { file: stage.file, folder: stage.folder, text: readFileSync(stage.file, 'utf8') },
    ]);
    const mark = watchFile(path.join(stage.folder, 'runs'), { clock: systemClock, pollMs: 50 });
    await within(
      nextEvent(mark.onDidChange, ({ kind }) => kind === 'text'),
      'the program',
    );
    mark.dispose();
    await stage.edit({});
    await edit;
    assert.equal(stage.host.snapshot.servers.length, 0);
  });
});
