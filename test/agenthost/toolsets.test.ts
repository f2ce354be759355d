/**
 * Toolsets in chats of the editor's agent host (G3d). Editor, agent host and
 * Copilot runtime are real, and only the model is scripted. Each step leaves its chats for the next
 * step.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Talk } from '../agents/models/scriptedModel.ts';
import { waitUntil } from '../support/editor/processes.ts';
import { isAlive } from '../support/processes.ts';
import { HostWindow } from './hostWindow.ts';

interface Tally {
  readonly count: number;
  readonly pid: number;
  readonly text: string;
}

const goneIfAny = /If it had one before, that one is gone with all that it held/;

describe('toolsets in the agent host', function () {
  this.timeout(600_000);
  let host: HostWindow;
  let first: Talk;

  before(async () => {
    host = await HostWindow.open();
    for (const server of ['counter', 'a-toolset-with-a-name-of-32-char', 'other'])
      await host.approve(server);
    first = await host.begin();
  });

  after(() => host?.close());

  const names = async (talk: Talk): Promise<string[]> =>
    (await talk.tools()).map(({ name }) => name);

  async function tally(talk: Talk): Promise<Tally> {
    const { text } = await talk.callAs({ name: 'counter-tally' });
    const [, count, pid] = /Call (\d+) of process (\d+)\./.exec(text) ?? [];
    assert.ok(count && pid, `no tally in: ${text}`);
    return { count: Number(count), pid: Number(pid), text };
  }

  async function edit(change: (text: string) => string): Promise<void> {
    const file = join(host.workspace, '.minds/mcp.yaml');
    await writeFile(file, change(await readFile(file, 'utf8')));
  }

  /**
   * Calls a tool until the model gets another one. The agent host looks for new tools after each
   * call.
   */
  async function untilOffered(talk: Talk, tool: string): Promise<void> {
    for (let calls = 0; calls < 200; calls++) {
      if ((await names(talk)).includes(tool)) return;
      await talk.callAs({ name: 'bash' }, { command: 'sleep 0.2', description: 'Wait' });
    }
    assert.fail(`${tool} was not offered: ${(await names(talk)).join(', ')}`);
  }

  it("Names within the host's limit stay whole, and longer names are left out and reported (G3a)", async () => {
    const offered = await names(first);
    const wide = 'a-toolset-with-a-name-of-32-char-tally_with_a_suffix_of_26_chars';
    assert.equal(wide.length, 64);
    for (const name of ['counter-tally', 'counter-structured', wide, 'mcp_admin-status']) {
      assert.ok(offered.includes(name), `${name} is not in ${offered.join(', ')}`);
    }
    assert.deepEqual(
      offered.filter((name) => name.startsWith('a-toolset') && name.includes('structured')),
      [],
    );
    assert.match(await host.untilProblem('agents-window-off'), /do not see the toolsets/);
    assert.match(
      await host.untilProblem('agent-host-name'),
      /"structured_with_a_suffix_of_26_chars"/,
    );
  });

  it('A chat has an instance, and its note names a release tool visible to its model (L2a, L3)', async () => {
    const one = await tally(first);
    assert.equal(one.count, 1);
    assert.match(
      one.text,
      /\.\n+\[MCP Toolsets\] This conversation now has its own instance of "counter"/,
    );
    assert.match(one.text, /the tool whose name ends in "mcp_release_counter"/);
    const two = await tally(first);
    assert.deepEqual([two.count, two.pid], [2, one.pid]);
    assert.doesNotMatch(two.text, /MCP Toolsets/);
    assert.match((await first.callAs({ name: 'mcp_admin-status' })).text, /counter: running/);

    const { text } = await first.callAs({ name: 'counter-mcp_release_counter' });
    assert.match(text, /has ended/);
    assert.ok(await waitUntil(() => !isAlive(one.pid), 60_000), 'its instance goes on');
    const next = await tally(first);
    assert.equal(next.count, 1);
    assert.doesNotMatch(next.text, goneIfAny, 'it was the model that gave it back');
  });

  it('A structured result reaches the model with its note', async () => {
    await first.callAs({ name: 'counter-mcp_release_counter' });
    const { text } = await first.callAs({ name: 'counter-structured' });
    assert.match(text, /21\.5/);
    assert.match(text, /mcp_release_counter/);
  });

  it('A server that fails or starts later deletes no session (G3b)', async () => {
    const { count, pid } = await tally(first);
    const before = host.offers();
    assert.ok(
      before.every((offer) => 'other' in offer),
      'a server that fails is offered',
    );
    await host.untilProblem('server-exited');
    await edit((text) => text.replace("exits.mjs'", "slow-start.mjs', '--tools', 'echo'"));
    await host.untilPending('other');
    await host.approve('other');
    await untilOffered(first, 'other-echo');
    const last = await tally(first);
    assert.deepEqual([last.count, last.pid], [count + 1, pid]);
    assert.ok(
      host.offers().every((offer) => isDeepStrictEqual(offer, before[0])),
      'the definitions have changed',
    );
  });

  it('A server that waits for approval is offered without tools, and its approval deletes no session (G3b, S1)', async () => {
    const { count, pid } = await tally(first);
    const before = host.offers();
    assert.ok(
      before.every((offer) => 'waiting' in offer),
      'a server that waits is offered',
    );
    assert.deepEqual(
      (await names(first)).filter((name) => name.startsWith('waiting')),
      [],
    );
    await host.approve('waiting');
    await untilOffered(first, 'waiting-pid');
    const last = await tally(first);
    assert.deepEqual([last.count, last.pid], [count + 1, pid]);
    assert.ok(
      host.offers().every((offer) => isDeepStrictEqual(offer, before[0])),
      'the definitions have changed',
    );
  });

  it('An added server deletes the sessions, and the only chat goes on with its instance or is notified of its end (G3b)', async () => {
    const before = await tally(first);
    await edit(
      (text) =>
        `${text}  added:\n    transport: stdio\n    command: node\n    args: ['${rawServer}']\n`,
    );
    // A turn keeps its first set of servers.
    await host.untilOffered('added');
    await host.approve('added');
    await first.finish();
    await host.goOn(first);
    await untilOffered(first, 'added-count');
    const after = await tally(first);
    // The host may or may not return within the time limit, depending on the machine.
    if (after.pid === before.pid) assert.equal(after.count, before.count + 1);
    else {
      assert.match(after.text, goneIfAny);
      assert.ok(
        await waitUntil(() => !isAlive(before.pid), 60_000),
        'the instance of the deleted session goes on',
      );
    }
  });

  it('Two chats have two instances (G3)', async () => {
    const second = await host.begin();
    const [one, two] = [await tally(first), await tally(second)];
    assert.notEqual(one.pid, two.pid);
    assert.equal(two.count, 1);
    assert.equal((await tally(first)).count, one.count + 1);
    assert.equal((await tally(second)).count, 2);
    await second.finish();
  });

  it('After a reload of the window the address stays, and the next turn works and reports lost state (G2c, X4)', async () => {
    const { pid } = await tally(first);
    const before = host.offers().at(-1);
    await first.finish();
    await host.reload();
    await host.goOn(first);
    await untilOffered(first, 'counter-tally');
    const after = await tally(first);
    assert.equal(after.count, 1);
    assert.notEqual(after.pid, pid);
    assert.match(after.text, /(?:that one|that this conversation had) is gone/);
    assert.deepEqual(host.offers().at(-1), before);
    assert.match(before?.['counter']?.headers['Authorization'] ?? '', /^Bearer [\w-]{43}$/);
    await first.finish();
  });

  it('The address stays over a reload with a call in flight, and the call fails (G2c)', async () => {
    const before = host.offers().at(-1);
    const counter = before?.['counter'];
    assert.ok(counter);
    const client = new Client({ name: 'caller', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(counter.url), {
        requestInit: { headers: counter.headers },
      }),
    );
    let call = Promise.resolve<unknown>(undefined);
    await new Promise<void>((begun) => {
      const slow = { name: 'slow', arguments: { ms: 600_000, steps: 6_000 } };
      call = client
        .callTool(slow, undefined, { onprogress: () => begun(), timeout: 300_000 })
        .catch((error: unknown) => error);
    });
    await host.reload();
    await call;
    await client.close();
    await host.goOn(first);
    await untilOffered(first, 'counter-tally');
    assert.equal((await tally(first)).count, 1);
    assert.deepEqual(host.offers().at(-1), before);
    await first.finish();
  });
});

const rawServer = join(__dirname, '../fixtures/servers/raw.mjs');
