/**
 * The steps for every agent (G6). Each step returns its observation as a phrase, or
 * fails with the difference. They run in one conversation, in this order, and each continues from
 * the last.
 */
import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fixture, http, type Entry } from '../support/core/configText.js';
import { startHttpFixture } from '../support/core/httpServers.js';
import { control } from '../support/core/person.js';
import { isAlive } from '../support/processes.js';
import type { AgentRun } from './agentRun.js';
import type { OfferedTool } from './models/protocol.js';
import type { ModelResult, ScriptedModel } from './models/scriptedModel.js';
import { Place } from './place.js';

export interface Scene {
  readonly place: Place;
  readonly model: ScriptedModel;
  /** The conversation of all steps. */
  readonly run: AgentRun;
}

export type Step = (scene: Scene) => Promise<string>;

const longMs = 65_000;
/** A vanished client is given up after 45 s (L2a), and a busy machine takes longer. */
const goneMs = 120_000;
/** The most tasks for an agent while its servers connect. */
const mostRounds = 50;

/** Servers that list their tools in another order with each request (N6). */
const shufflers = 20;
const shuffledTools = ['tally', 'echo', 'fail'];
/** Of one server each: every other one is a crash. */
const restarts = 100;

function shuffling(): Readonly<Record<string, Entry>> {
  const ids = Array.from({ length: shufflers }, (_, index) => `s${index}`);
  const args = ['--shuffle', '--tools', shuffledTools.join(',')];
  const entry = (id: string): Entry =>
    fixture('raw', args, { 'truely-stateless': true, transform: [{ prefix: `${id}_c_` }] });
  return Object.fromEntries(ids.map((id) => [id, entry(id)]));
}

function areShuffledOffered(tools: readonly OfferedTool[]): boolean {
  const ours = tools.filter(({ name }) => /s\d+_c_\w+$/.test(name));
  return ours.length === shufflers * shuffledTools.length;
}

interface Tally {
  readonly count: number;
  readonly pid: number;
}

/**
 * A conversation whose model gets the tools of the toolsets, if the agent has the toolsets at all.
 */
export async function begun(
  place: Place,
  model: ScriptedModel,
  areOffered = isOffered,
): Promise<AgentRun> {
  const run = place.begin(model.talk());
  await run.talk.ready();
  const { pastime } = place.agent;
  for (
    let round = 0;
    pastime && round < mostRounds && !areOffered(await run.talk.tools());
    round++
  ) {
    await run.talk.callAs({ name: pastime.tool }, pastime.args);
  }
  return run;
}

function isOffered(tools: readonly OfferedTool[]): boolean {
  return tools.some(({ name }) => name.endsWith('c_tally'));
}

function isSignedInOffered(tools: readonly OfferedTool[]): boolean {
  return tools.some(({ name }) => name.endsWith('c_whoami'));
}

/** The number of the call, and its instance. */
function tallyIn({ text }: ModelResult): Tally {
  const [, count, pid] = /Call (\d+) of process (\d+)\./.exec(text) ?? [];
  assert.ok(count && pid, `no tally in: ${text}`);
  return { count: Number(count), pid: Number(pid) };
}

async function tallyOf({ talk }: AgentRun): Promise<Tally> {
  return tallyIn(await talk.call('c_tally'));
}

async function untilEnded(pid: number): Promise<number> {
  const begun = performance.now();
  while (isAlive(pid)) {
    const took = performance.now() - begun;
    assert.ok(took < goneMs, `its instance still runs after ${Math.round(took / 1000)} s`);
    await pause(100);
  }
  return performance.now() - begun;
}

/** The release tool for the model (L2a). It belongs to `mcp_admin`, because one entry has all toolsets. */
async function releaseTool({ run: { talk } }: Scene): Promise<[OfferedTool, object]> {
  const offered = await talk.tools();
  const found = offered.find(({ name }) => name.endsWith('mcp_release'));
  assert.ok(found, `no tool to release with: ${offered.map(({ name }) => name).join(', ')}`);
  return [found, { serverId: 'counter' }];
}

export const steps = {
  entries: async ({ run }) => {
    const tools = await run.talk.tools();
    const found = tools.find(({ name }) => name.endsWith('c_tally'));
    assert.ok(
      found,
      `the toolset is not offered: ${tools.map(({ name }) => name).join(', ')}; ${run.words.slice(-1000)}`,
    );
    return `\`${found.namespace ? `${found.namespace}.` : ''}${found.name}\``;
  },

  names: async ({ run }) => {
    const tools = await run.talk.tools();
    const names = tools.map(({ name }) => name);
    const published = ['tally', 'echo', 'fail', 'chart', 'structured', 'quiet', 'exit'];
    const lost = published.filter((name) => !names.some((one) => one.endsWith(`c_${name}`)));
    assert.deepEqual(lost, [], `not offered, of ${names.join(', ')}`);
    assert.deepEqual(
      names.filter((name) => /secret_plan|late$/.test(name)),
      [],
      'offered, though filtered',
    );
    return 'ok';
  },

  structure: async ({ run }) => {
    const { text } = await run.talk.call('c_structured');
    assert.match(text, /21\.5/);
    assert.match(text, /release/i, 'the note about the instance did not reach the model');
    return 'ok';
  },

  call: async ({ run }) => {
    assert.equal((await tallyOf(run)).count, 1);
    assert.equal((await tallyOf(run)).count, 2);
    return 'ok';
  },

  error: async ({ run }) => {
    const { text } = await run.talk.call('c_fail', { text: 'the disk is full' });
    assert.match(text, /the disk is full/);
    return 'ok';
  },

  image: async ({ run }) => {
    const { text, images } = await run.talk.call('c_chart', { color: '#2a7f62' });
    if (images > 0) return 'ok';
    assert.match(text, /iVBOR/, 'no image reached the model');
    return 'as text';
  },

  long: async ({ run }) => {
    const { text } = await run.talk.call('c_quiet', { ms: longMs }, longMs + 60_000);
    assert.match(text, /\bdone\b/);
    return 'ok';
  },

  change: async ({ run, place }) => {
    await place.addTool();
    for (let calls = 1; calls <= 5; calls++) {
      await run.talk.call('c_echo', { text: 'hello' });
      const names = (await run.talk.tools()).map(({ name }) => name);
      if (names.some((name) => name.endsWith('c_late'))) return 'ok';
    }
    return assert.fail('the added tool was not offered within five calls');
  },

  death: async ({ run }) => {
    await tallyOf(run);
    const offered = await run.talk.toolBytes();
    const died = await run.talk.call('c_exit', { code: 3 });
    assert.match(
      died.text,
      /unknown|ended|exit/i,
      'the model is not told that the result is unknown',
    );
    const next = await run.talk.call('c_tally');
    assert.match(
      next.text,
      /gone|new instance|lost/i,
      'the model is not told that the state is gone',
    );
    assert.equal(tallyIn(next).count, 1);
    assert.equal(
      await run.talk.toolBytes(),
      offered,
      'the next instance changed the tools for the model',
    );
    return 'ok';
  },

  release: async (scene) => {
    const { run } = scene;
    const { pid } = await tallyOf(run);
    const { text } = await run.talk.callAs(...(await releaseTool(scene)));
    assert.doesNotMatch(text, /no instance/i);
    await untilEnded(pid);
    assert.equal((await tallyOf(run)).count, 1);
    return 'ok';
  },

  restart: async ({ run, place }) => {
    const offered = await run.talk.toolBytes();
    await place.stopServing();
    await place.serve();
    const said: string[] = [];
    for (let calls = 1; calls <= 3; calls++) {
      const { text } = await run.talk.call('c_tally');
      if (text.includes('of process')) {
        assert.equal(
          await run.talk.toolBytes(),
          offered,
          'the restart changed the tools for the model',
        );
        return calls === 1 ? 'ok' : `at call ${calls}`;
      }
      said.push(text.slice(0, 200));
    }
    return assert.fail(`three calls after the restart failed: ${said.join(' | ')}`);
  },

  steady: async ({ place, model }) => {
    const many = await Place.open(place.agent, model, shuffling());
    try {
      const run = await begun(many, model, areShuffledOffered);
      assert.ok(areShuffledOffered(await run.talk.tools()), 'tools are missing');
      const offered = await run.talk.toolBytes();
      for (let round = 0; round < restarts; round++) {
        const serverId = `s${round % shufflers}`;
        const { pid } = tallyIn(await run.talk.call(`${serverId}_c_tally`));
        if (round % 2 === 0) await run.talk.call('mcp_restart', { serverId });
        else process.kill(pid, 'SIGKILL');
        let next = await run.talk.call(`${serverId}_c_tally`);
        // The call came before the news of the crash.
        if (next.text.includes('result unknown')) next = await run.talk.call(`${serverId}_c_tally`);
        assert.notEqual(tallyIn(next).pid, pid);
        assert.ok(
          (await run.talk.toolBytes()) === offered,
          `restart ${round + 1} changed the tools for the model`,
        );
      }
      await run.finish();
      return `${restarts} restarts`;
    } finally {
      await many.close();
    }
  },

  two: async ({ run, place, model }) => {
    const other = await begun(place, model);
    const [one, two] = [await tallyOf(run), await tallyOf(other)];
    assert.notEqual(one.pid, two.pid, 'two conversations share an instance');
    assert.equal(two.count, 1);
    await other.finish();
    return 'ok';
  },

  clones: async ({ run, place, model }) => {
    const clone = await Place.open(place.agent, model);
    try {
      const other = await begun(clone, model);
      // Gemini CLI ends a conversation that repeats one call.
      await run.talk.call('c_echo', { text: 'clones' });
      const [here, there] = [await tallyOf(run), await tallyOf(other)];
      assert.equal(there.count, 1);
      const workedIn = ({ pid }: Tally): string => readlinkSync(`/proc/${pid}/cwd`);
      if (process.platform === 'linux')
        assert.deepEqual([workedIn(here), workedIn(there)], [place.folder, clone.folder]);
      await other.finish();
      return 'ok';
    } finally {
      await clone.close();
    }
  },

  signedIn: async ({ place, model }) => {
    const server = await startHttpFixture('oauth', [], process.env);
    let signed: Place | undefined;
    try {
      const far = http(server.url, { transform: [{ prefix: 'c_' }] });
      signed = await Place.open(place.agent, model, { far }, 'far');
      const run = await begun(signed, model, isSignedInOffered);
      assert.match((await run.talk.call('c_whoami')).text, /ada files:read/);
      await control(server.url, 'end-access');
      assert.match((await run.talk.call('c_whoami')).text, /ada files:read/, 'not renewed');
      const refused = await run.talk.call('c_write');
      assert.match(refused.text, /files:write.*mcp-toolsets login far/s);
      await run.finish();
      return 'ok';
    } finally {
      await signed?.close();
      await server.stop();
    }
  },

  end: async ({ run }) => {
    const { pid } = await tallyOf(run);
    await run.finish();
    const took = await untilEnded(pid);
    return took < 5_000 ? 'at once' : `after ${Math.round(took / 1000)} s`;
  },

  crash: async ({ place, model }) => {
    const run = await begun(place, model);
    const { pid } = await tallyOf(run);
    await run.kill();
    const took = await untilEnded(pid);
    return took < 5_000 ? 'at once' : `after ${Math.round(took / 1000)} s`;
  },
} satisfies Record<string, Step>;

export type StepId = keyof typeof steps;

export const stepIds = Object.keys(steps) as StepId[];

/** Skipped by `--quick`, because they wait for longer than a minute. */
export const slowSteps: readonly StepId[] = ['long', 'steady', 'crash'];
