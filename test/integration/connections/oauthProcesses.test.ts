/**
 * Rule X7e: twelve processes of a person share one sign-in. The authorization server takes each
 * refresh token once, and revokes the whole sign-in if it sees one again. All rounds, 1,000, run
 * with `MCP_TOOLSETS_ROUNDS=1`.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { NoKeyring } from '../../../src/cli/keyring.js';
import { SignInFile } from '../../../src/cli/signInFile.js';
import { systemClock } from '../../../src/core/base/clock.js';
import { OAuth } from '../../../src/core/connections/http/oauth/oauth.js';
import { startHttpFixture, type HttpServer } from '../../support/core/httpServers.js';
import { bundled } from '../../support/core/bundles.js';
import { startedByTest } from '../../support/core/leftovers.js';
import { control, Person } from '../../support/core/person.js';
import { within } from '../../support/core/within.js';
import { Random, seedOf } from '../../unit/stress/random.js';
import { http } from './rig.js';

const count = 12;
const rounds = Math.ceil(1000 * Number(process.env['MCP_TOOLSETS_ROUNDS'] ?? 0.02));

const noKey = () => Promise.reject(new NoKeyring('in a test'));

class Process {
  readonly child: ChildProcess;
  private readonly lines: Interface;
  private readonly forget: () => void;
  readonly ended: Promise<unknown>;

  constructor(
    readonly name: string,
    script: string,
    args: readonly string[],
  ) {
    this.child = spawn(process.execPath, [script, ...args, name], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.ended = once(this.child, 'exit');
    this.forget = startedByTest(`process ${name}`, () => this.end());
    assert(this.child.stdout);
    this.lines = createInterface(this.child.stdout);
  }

  /** Resolves with its next line; with nothing if it ends first. */
  async line(): Promise<string | undefined> {
    const line = once(this.lines, 'line') as Promise<[string]>;
    const [text] = await within(Promise.race([line, this.ended.then(() => [])]), this.name);
    return text;
  }

  async use(): Promise<string | undefined> {
    const line = this.line();
    this.child.stdin?.write('\n');
    return await line;
  }

  async end(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
    this.lines.close();
    this.forget();
  }
}

describe('one renewal of all processes (X7e)', function () {
  this.timeout(90 * 60_000);
  let server: HttpServer;
  let home: string;
  let processes: Process[] = [];

  beforeEach(async () => {
    home = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-sign-ins-'));
    server = await startHttpFixture('oauth', [], process.env);
  });

  afterEach(async () => {
    await Promise.all(processes.map((one) => one.end()));
    processes = [];
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  });

  /** Does something in this process, as `login` and `logout` do. */
  async function asPerson(
    does: (oauth: OAuth, secrets: SignInFile) => Promise<void>,
  ): Promise<void> {
    const secrets = new SignInFile(home, noKey);
    const keepSecret = () => ({ dispose: () => {} });
    const log = { write: () => {} };
    const oauth = new OAuth({
      secrets,
      clock: systemClock,
      log,
      keepSecret,
      clientVersion: 'person',
    });
    try {
      await does(oauth, secrets);
    } finally {
      oauth.dispose();
      secrets.dispose();
    }
  }

  const signIn = (): Promise<void> =>
    asPerson((oauth, secrets) => {
      const { signal } = new AbortController();
      return secrets.beginning(
        () => {},
        () => oauth.signIn(http(server.url), new Person(), signal),
      );
    });

  const signOut = (): Promise<void> => asPerson((oauth) => oauth.signOut(http(server.url)));

  async function start(name: string): Promise<Process> {
    const script = await bundled('test/support/core/renewerMain.ts');
    const made = new Process(name, script, [server.url, home]);
    assert.equal(await made.line(), 'ready');
    return made;
  }

  const renewers = async (): Promise<string[]> =>
    ((await control(server.url, 'renewers')) as string[])
      .filter((agent) => !agent.endsWith('/person'))
      .map((agent) => agent.replace('mcp-toolsets/', ''));

  it(`A sign-out and a sign-in during a renewal by other processes count: ${rounds} rounds`, async () => {
    const seed = seedOf('SIGN_IN_SEED');
    const random = new Random(seed);
    await signIn();
    processes = await Promise.all(Array.from({ length: 4 }, (_, index) => start(`p${index}`)));
    let usual = 100;
    for (let round = 0; round < rounds; round++) {
      const where = `round ${round} of seed ${seed}`;
      await control(server.url, 'end-access');
      const began = performance.now();
      const renewing = Promise.all(processes.map((one) => one.use()));
      await pause(random.int(usual));
      const signsIn = round % 2 === 1;
      await (signsIn ? signIn() : signOut());
      const file = () => readFileSync(path.join(home, '.minds', 'sign-ins.json'), 'utf8');
      const before = file();
      await renewing;
      usual = performance.now() - began;
      const again = await Promise.all(processes.map((one) => one.use()));
      if (signsIn) {
        assert.deepEqual([...new Set(again)], ['HTTP 200'], where);
        assert.ok(file() === before, `${where}: the new sign-in was replaced`);
      } else {
        assert.doesNotMatch(file(), /access_token/, where);
        assert.ok(
          again.every((text) => text?.includes('"kind":"signIn"')),
          `${where}: ${again.join()}`,
        );
        await signIn();
      }
    }
  });

  it(`Twelve processes with one old token make one renewal, also if some are killed: ${rounds} rounds`, async () => {
    const seed = seedOf('SIGN_IN_SEED');
    const random = new Random(seed);
    await signIn();
    processes = await Promise.all(Array.from({ length: count }, (_, index) => start(`p${index}`)));
    let [lost, taken, before, made] = [0, 0, 0, count];
    // The time of a round on this machine, in milliseconds.
    let usual = 100;
    for (let round = 0; round < rounds; round++) {
      const where = `round ${round} of seed ${seed}`;
      await control(server.url, 'end-access');
      const killed = round % 2 === 0 ? 0 : 1 + random.int(3);
      const victims = random.shuffled(processes).slice(0, killed);
      const began = performance.now();
      const outcomes = processes.map((one) => one.use());
      await Promise.all(
        victims.map(async (victim) => {
          await pause(random.int(usual));
          await victim.end();
        }),
      );
      const all = await Promise.all(outcomes);
      if (killed === 0 && round > 0) usual = performance.now() - began;
      if (process.env['MCP_TOOLSETS_ROUNDS'] !== undefined && round % 50 === 0)
        console.log(`round ${round}: ${taken} taken over, ${lost} lost`);
      const said = all.filter((_, index) => !victims.includes(processes[index] as Process));
      const asked = await renewers();
      const now = asked.slice(before);
      before = asked.length;
      const names = victims.map(({ name }) => name);
      const early = now.slice(0, -1);
      assert.ok(now.length > 0, `${where}: ${said.join()}`);
      assert.ok(
        early.every((name) => names.includes(name)),
        `${where}: ${now.join()} renewed, and ${names.join()} died`,
      );
      if (early.length > 0) taken += 1;
      const isLost = said.some((text) => text !== 'HTTP 200');
      if (isLost) {
        // Its holder died between the answer of the authorization server and the file.
        lost += 1;
        assert.ok(early.length > 0, `${where}: ${said.join()}`);
        assert.ok(
          said.some((text) => text?.includes('a renewal of its token was interrupted')),
          `${where}: ${said.join()}`,
        );
        await signIn();
      }
      processes = await Promise.all(
        processes.map((one) => (names.includes(one.name) ? start(`p${made++}`) : one)),
      );
    }
    if (process.env['MCP_TOOLSETS_ROUNDS'] !== undefined)
      console.log(
        `${rounds} rounds, ${taken} renewals taken over, ${lost} sign-ins lost with them`,
      );
  });
});
