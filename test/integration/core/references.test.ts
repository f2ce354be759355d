/**
 * References in `args` and `url` (C2) with a real process and a real HTTP server. A person approves
 * the reference, and only the server gets the value (C2). An import also reads the references
 * of other programs (C6).
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { planImport } from '../../../src/core/import/plan.js';
import { Emitter } from '../../../src/core/base/events.js';
import type { LaunchDescription } from '../../../src/core/approval/fingerprint.js';
import { fixturePath } from '../../support/core/bundles.js';
import { http, type Entry } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const canary = (name: string): string => `canary-${name}-5ca1ab1e`;
const anyCanary = /canary-[a-z]+-5ca1ab1e/;

describe('core: references in arguments and addresses', () => {
  let stage: Stage;
  /** The launches shown to a person, by server. */
  let judged: Map<string, LaunchDescription>;

  beforeEach(async () => {
    judged = new Map();
    const changes = new Emitter<void>();
    stage = await startStage({
      trace: true,
      env: { ALONE: canary('alone'), AFFIXED: canary('affixed'), KEY: canary('key') },
      approvals: {
        judge: (launch) => {
          judged.set(launch.server, launch);
          return 'approved';
        },
        isKept: () => true,
        onDidChange: changes.event,
      },
    });
  });

  afterEach(endStages);

  const shown = (server: string, label: string): string[] =>
    (judged.get(server)?.parts ?? [])
      .filter((part) => part.label === label)
      .map((part) => part.shown);

  async function assertHidden(): Promise<void> {
    const status = await stage.text('mcp_admin', 'mcp_status');
    const seen =
      stage.logs.text() +
      JSON.stringify(stage.host.snapshot) +
      status +
      JSON.stringify([...judged.values()]);
    assert.doesNotMatch(seen, anyCanary);
  }

  const program = (args: readonly unknown[]): Entry => ({
    transport: 'stdio',
    command: process.execPath,
    args: [fixturePath('raw'), ...args],
  });

  it('References reach the process, and a person approves them as references', async () => {
    await stage.edit({
      a: program([
        '--access-token',
        { env: 'ALONE' },
        { prefix: '-e X=', env: 'AFFIXED', suffix: '!' },
      ]),
    });
    const given = await stage.text('a', 'args');
    assert.deepEqual(JSON.parse(given), [
      '--access-token',
      canary('alone'),
      `-e X=${canary('affixed')}!`,
    ]);
    assert.deepEqual(shown('a', 'argument').slice(1), [
      '--access-token',
      'the variable ALONE',
      '"-e X=" and the variable AFFIXED and "!"',
    ]);
    await stage.outcome('a', 'stderr', {
      text: `bad token ${canary('alone')}, ${canary('affixed')}`,
    });
    await stage.logs.until(({ message }) => message.includes('[stderr] bad token'), 'stderr');
    await stage.outcome('a', 'log', { level: 'error', text: `bad token ${canary('affixed')}` });
    await assertHidden();
  });

  it('References reach a process that fails to start, and its failure does not show them', async () => {
    const script = 'console.error("cannot use " + process.argv.at(-1)); process.exit(1)';
    await stage.edit({
      a: {
        transport: 'stdio',
        command: process.execPath,
        args: ['-e', script, '--', { env: 'ALONE' }],
      },
    });
    assert.match(stage.problem('server-exited').message, /cannot use •••/);
    await assertHidden();
  });

  it('References reach the address, and a person approves them as references', async () => {
    const server = await stage.http('http');
    const entry = { ...http(''), url: { prefix: `${server.url}?key=`, env: 'KEY' } };
    await stage.edit({ a: entry });
    assert.match(
      await stage.text('a', 'requests'),
      new RegExp(`\\?key=${canary('key')} initialize`),
    );
    assert.deepEqual(shown('a', 'address'), [
      `${JSON.stringify(`${server.url}?key=`)} and the variable KEY`,
    ]);
    await assertHidden();
    await server.stop();
    await stage.outcome('a', 'echo', { text: 'x' });
    await assertHidden();
  });

  it('A changed value restarts the server and asks no new question', async () => {
    const entry = program([{ env: 'ALONE' }]);
    await stage.edit({ a: entry });
    const before = judged.get('a')?.fingerprint;
    stage.env['ALONE'] = canary('changed');
    await stage.edit({ a: entry });
    assert.deepEqual(JSON.parse(await stage.text('a', 'args')), [canary('changed')]);
    assert.equal(judged.get('a')?.fingerprint, before);
    await assertHidden();
  });

  it('An import converts `--access-token ${env:X}` and `-e X=${input:…}` to enabled references that start', async () => {
    const text = JSON.stringify({
      inputs: [{ id: 'affixed', type: 'promptString', password: true, description: 'A token' }],
      servers: {
        a: {
          type: 'stdio',
          command: process.execPath,
          args: [fixturePath('raw'), '--access-token', '${env:ALONE}', '-e', 'X=${input:affixed}'],
        },
      },
    });
    const plan = planImport({
      text,
      file: path.join(stage.folder, '.vscode', 'mcp.json'),
      label: 'mcp.json',
      config: undefined,
      isOfEditor: true,
      valueOf: () => undefined,
      folders: { folder: stage.folder, home: stage.folder },
    });
    assert.ok(plan.kind === 'planned');
    const written = plan.after;
    assert.doesNotMatch(written, /enabled: false/);
    const [, secret = ''] = /prefix: 'X=', secret: (\w+)/.exec(written) ?? [];
    stage.entered.set(secret, canary('affixed'));
    await stage.edit(written);
    const given: unknown = JSON.parse(await stage.text('a', 'args'));
    assert.deepEqual(given, ['--access-token', canary('alone'), '-e', `X=${canary('affixed')}`]);
    await assertHidden();
  });
});
