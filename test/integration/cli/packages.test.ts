/**
 * Packages by real launchers (C8, S1o): which version runs, pins, and the files of the workspace
 * that decide.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { ApprovalStage } from '../../support/core/approvalStage.js';
import type { CommandLine } from '../../support/core/commandLine.js';
import { suiteNotHere } from '../../support/notHere.js';
import { work } from '../../support/core/within.js';

const name = '@modelcontextprotocol/server-memory';
const [older, newer] = ['2026.1.26', '2026.7.4'];

interface Package {
  readonly launcher: string;
  readonly name: string;
  readonly requested?: string;
  readonly pinned: boolean;
  readonly runs?: string;
  readonly integrity?: string;
  readonly reported?: string;
}

describe('packages of launches', function () {
  suiteNotHere(this, process.platform === 'win32', 'no version is known to run on Windows');
  this.timeout(300_000);
  let stage: ApprovalStage;
  let cli: CommandLine;

  beforeEach(async () => {
    stage = await ApprovalStage.open();
    ({ cli } = stage);
    // Only these of the machine: its registry, and one cache for all tests of this file.
    cli.env['NPM_CONFIG_USERCONFIG'] = path.join(homedir(), '.npmrc');
    cli.env['NPM_CONFIG_CACHE'] = path.join(stage.outside, 'cache');
  });

  afterEach(() => stage.close());

  /** Fills the cache as an earlier start did. */
  async function fetch(spec: string): Promise<void> {
    await work(`the installation of ${spec}`, async () => {
      const child = cli.npm('npx', ['-y', '-p', spec, 'true']);
      const [code] = (await once(child, 'exit')) as [number];
      assert.equal(code, 0);
    });
  }

  const entry = (...args: string[]) => ({ transport: 'stdio', command: 'npx', args });

  async function packages(): Promise<(Package | undefined)[]> {
    const { stdout } = await cli.run('status', '--json');
    const { servers } = JSON.parse(stdout) as { servers: { package?: Package }[] };
    return servers.map(({ package: one }) => one);
  }

  it('`status` has the version that runs, `pin` writes it, and the review shows only the version (C8)', async () => {
    await fetch(`${name}@${older}`);
    await fetch(`${name}@~2026.7.0`);
    const args = (version: string): string => `args: ["-y", '${name}@${version}'] # the memory`;
    const text = (version: string): string =>
      `version: 1\nservers:\n  a: { transport: stdio, command: npx, args: [-y, "${name}@${older}"] }\n  b:\n    transport: stdio\n    command: npx\n    ${args(version)}\n`;
    cli.save(text('~2026.7.0'));
    await stage.approve();
    const [a, b] = await packages();
    const { integrity, reported, ...rest } = a ?? assert.fail('no package');
    assert.deepEqual(rest, {
      launcher: 'npx',
      name,
      requested: older,
      pinned: true,
      runs: older,
    });
    assert.match(integrity ?? '', /^sha512-/);
    assert.notEqual(reported, undefined);
    assert.deepEqual([b?.runs, b?.pinned, b?.requested], [newer, false, '~2026.7.0']);
    const { stdout } = await cli.run('status');
    assert.ok(stdout.includes(`Package of b: ${name}@~2026.7.0, runs ${newer}, `), stdout);

    assert.deepEqual(await cli.run('check'), { code: 0, stdout: 'No problems.\n', stderr: '' });
    const checked = await cli.run('check', '--pinned');
    assert.match(checked.stdout, /^\S+mcp\.yaml:7:18: error version-not-pinned: .*\n$/);
    assert.equal(checked.code, 1);

    const shown = await cli.run('pin');
    assert.match(shown.stdout, new RegExp(`\\+ +${args(newer).replace(/[[\]]/g, '\\$&')}`));
    assert.match(shown.stderr, /a: .* It is pinned\./);
    assert.equal(readFileSync(cli.file, 'utf8'), text('~2026.7.0'));
    assert.equal((await cli.run('pin', 'b', '--write')).code, 0);
    assert.equal(readFileSync(cli.file, 'utf8'), text(newer));
    assert.equal((await cli.run('check', '--pinned')).code, 0);

    const { stdout: review } = await cli.run('approve', '--yes');
    assert.match(review, /Only the version of its package differs\./);
    const marked = review.split('\n').filter((line) => /^[+-] /.test(line));
    assert.deepEqual(
      marked.map((line) => line.replace(/.*@|\s*$/g, '')),
      ['~2026.7.0', newer],
    );
  });

  it('A pull with settings or a local package holds a pinned launch, and the review names them (S1o)', async () => {
    await fetch(`${name}@${older}`);
    cli.save({ a: entry('-y', `${name}@${older}`) });
    await stage.approve();
    assert.notDeepEqual(await stage.namesFor('a'), []);
    const evil = path.join(cli.folder, 'evil.cjs');
    const proof = path.join(stage.outside, 'proof');
    writeFileSync(evil, `require('node:fs').writeFileSync(${JSON.stringify(proof)}, '');`);
    const plain = (text: string): string => text.replace(/\s*\n[+ ]\s*…\s*/g, '');

    const settings = path.join(cli.folder, '.npmrc');
    writeFileSync(settings, `node-options=--require=${evil}\n`);
    assert.deepEqual(await stage.namesFor('a'), []);
    const waiting = await cli.run('approve');
    assert.match(plain(waiting.stdout + waiting.stderr), /package +registry: .*\.npmrc/);
    rmSync(settings);
    assert.notDeepEqual(await stage.namesFor('a'), [], 'the first approval still counts');

    const local = path.join(cli.folder, 'node_modules', name);
    mkdirSync(local, { recursive: true });
    const manifest = { name, version: older, bin: 'evil.cjs' };
    writeFileSync(path.join(local, 'package.json'), JSON.stringify(manifest));
    assert.deepEqual(await stage.namesFor('a'), []);
    const other = await cli.run('approve');
    assert.match(plain(other.stdout + other.stderr), /package +local package: .*server-memory/);
    assert.throws(() => readFileSync(proof), 'nothing of the workspace ran');
  });

  it('Two caches of npm give the same lock, byte for byte, and a version with other texts is `lock-version` and `lock-differs` (S3d)', async () => {
    const lockFile = path.join(cli.folder, '.minds/mcp.lock');
    const locked = async (cache: string): Promise<string> => {
      cli.env['NPM_CONFIG_CACHE'] = path.join(stage.outside, cache);
      await fetch(`${name}@${older}`);
      rmSync(lockFile, { force: true });
      const { code, stderr } = await cli.run('lock', '--write', '--approve');
      assert.equal(code, 0, stderr);
      return readFileSync(lockFile, 'utf8');
    };
    cli.save({ a: entry('-y', `${name}@${older}`) });
    const first = await locked('cache');
    assert.equal(await locked('another cache'), first);
    assert.match(first, new RegExp(`"integrity": "sha512-.*"version": "${older}"`));

    await fetch(`${name}@${newer}`);
    cli.save({ a: entry('-y', `${name}@${newer}`) });
    const { code, stdout } = await cli.run('check', '--start', '--approve');
    assert.equal(code, 1);
    assert.match(stdout, /error lock-version: .*2026\.1\.26/);
    assert.match(stdout, /error lock-differs: "a" .*tool "create_entities" \(hints changed\)/);
    const update = await cli.run('lock', '--approve');
    assert.match(update.stdout, /^a: its package: .*2026\.7\.4, before .*2026\.1\.26$/m);
  });

  it('`pin` leaves the version in the local file, and --no-local pins the shared file (C7, C8)', async () => {
    await fetch(`${name}@~2026.7.0`);
    cli.save({ a: entry('-y', `${name}@~2026.7.0`) });
    const layer = path.join(cli.folder, '.minds/mcp.local.yaml');
    const own = `version: 1\nservers:\n  a: { args: [-y, "${name}@2026"] }\n`;
    writeFileSync(layer, own);
    const left = await cli.run('pin', 'a', '--write', '--approve');
    assert.equal(left.code, 1);
    assert.match(left.stderr, /a: .* It stays: its arguments are in \.minds.mcp\.local\.yaml/);
    assert.ok(readFileSync(cli.file, 'utf8').includes('~2026.7.0'));
    const { code, stderr } = await cli.run('pin', 'a', '--write', '--approve', '--no-local');
    assert.equal(code, 0, stderr);
    assert.ok(readFileSync(cli.file, 'utf8').includes(`${name}@${newer}`));
    assert.equal(readFileSync(layer, 'utf8'), own);
  });
});
