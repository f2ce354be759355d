/**
 * Calls that a server answers as tasks, and other extensions (X8f): permitted clients and
 * lifetimes.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../src/core/base/clock.js';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import { Bridge } from '../../../src/core/bridge/bridge.js';
import { createGateway, type Gateway } from '../../../src/core/gateway/http/gateway.js';
import type { Fields } from '../../../src/core/protocol/client.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { fixture, type Entry } from '../../support/core/configText.js';
import { ModernClient, textIn, type Message } from '../../support/core/modernClient.js';
import { Pipe } from '../../support/core/pipe.js';
import { keepResults } from '../../support/core/keptResults.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { within } from '../../support/core/within.js';
import { silentLog } from '../../support/fakes/silentLog.js';

const extension = 'io.modelcontextprotocol/tasks';
const knowing = { capabilities: { elicitation: {}, extensions: { [extension]: {} } } };

describe('tasks (X8f)', function () {
  this.timeout(120_000);
  let stage: Stage;
  beforeEach(async () => (stage = await startStage()));
  afterEach(endStages);

  const open = (capabilities = knowing.capabilities, toolset = 's'): Promise<ModernClient> =>
    ModernClient.open(stage, toolset, {
      capabilities,
      address: randomBytes(16).toString('base64url'),
    });
  /** The agreed part comes first, then the updates of the tasks. */
  const listen = (
    client: ModernClient,
    taskIds: string[],
  ): { next(): Promise<Fields>; end: Promise<Message> } => {
    const stop = new AbortController();
    stage.onDispose(() => Promise.resolve(stop.abort()));
    const told: Fields[] = [];
    const more = new Emitter<void>();
    const onTold = (method: string, params: Fields): void => {
      told.push(method === 'notifications/tasks' ? params : (params['notifications'] as Fields));
      more.fire();
    };
    const options = { onTold, signal: stop.signal, isLong: true };
    const end = client.request('subscriptions/listen', { notifications: { taskIds } }, options);
    end.catch(() => undefined);
    return {
      next: async () => {
        if (told.length === 0)
          await within(
            nextEvent(more.event, () => true),
            'word of a task',
          );
        return told.shift() ?? {};
      },
      end,
    };
  };
  /** Its id, its status and the text of its result. */
  const shortly = ({ taskId, status, result }: Fields): unknown[] => {
    const { content } = (result ?? {}) as { content?: { text: string }[] };
    return [taskId, status, content?.[0]?.text];
  };
  const taskOf = ({ result, error }: Message): string => {
    assert.equal(result?.['resultType'], 'task', JSON.stringify(error ?? result));
    return String(result['taskId']);
  };
  const get = (client: ModernClient, taskId: string): Promise<Message> =>
    client.request('tasks/get', { taskId });
  const refused = (answer: Message): void => {
    assert.deepEqual(
      [answer.error?.code, answer.result],
      [-32602, undefined],
      JSON.stringify(answer),
    );
  };

  it('Tasks pass with questions and results under renamed tools', async () => {
    await stage.edit({ s: fixture('tasks', [], { transform: [{ prefix: 'my_' }] }) });
    const client = await open();
    const { capabilities } = (await client.request('server/discover')).result as {
      capabilities: { extensions: object };
    };
    assert.deepEqual(capabilities.extensions, { [extension]: {} });
    const taskId = taskOf(await client.call('my_work', { asks: true }));
    const asked = await get(client, taskId);
    assert.equal(asked.result?.['resultType'], 'complete');
    assert.match(
      JSON.stringify(asked.result['inputRequests']),
      /"name":\{"method":"elicitation\/create"/,
    );
    const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
    const updated = await client.request('tasks/update', { taskId, inputResponses });
    assert.equal(updated.result?.['resultType'], 'complete');
    const done = await get(client, taskId);
    assert.equal(done.result?.['status'], 'completed');
    assert.match(JSON.stringify(done.result['result']), /Ada/);
    const second = taskOf(await client.call('my_work'));
    await client.request('tasks/cancel', { taskId: second });
    assert.equal((await get(client, second)).result?.['status'], 'cancelled');
    // The first text of a conversation contains the note about its lease.
    assert.match(JSON.stringify((await client.call('my_pid')).result), /\[MCP Toolsets\]/);
  });

  it('Tasks belong to their conversation and are invisible to others', async () => {
    await stage.edit({ s: fixture('tasks') });
    const [one, two] = [await open(), await open()];
    const taskId = taskOf(await one.call('work'));
    await two.text('pid');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      refused(await two.request(method, { taskId, inputResponses: {} }));
      refused(await two.request(method, { taskId: randomUUID(), inputResponses: {} }));
    }
    assert.equal((await two.request('tasks/list')).status, 404);
    assert.equal((await get(one, taskId)).result?.['status'], 'working');
  });

  it('Tasks outlive the release of their instance, which ends with the last task', async () => {
    await stage.edit({ s: fixture('tasks') });
    const client = await open();
    const pid = await client.text('pid');
    const taskId = taskOf(await client.call('work', { asks: true }));
    assert.match(textIn(await client.call('mcp_release_s')), /ended/);
    assert.notEqual(await client.text('pid'), pid, 'the next call has an instance of its own');
    const asked = await get(client, taskId);
    assert.equal(asked.result?.['status'], 'input_required', JSON.stringify(asked));
    await client.request('tasks/update', { taskId, inputResponses: { name: { content: 'x' } } });
    assert.equal((await get(client, taskId)).result?.['status'], 'completed');
    await stage.until(
      () => !stage.instances('s').some((one) => String(one.pid) === pid),
      'the end of its instance',
    );
    refused(await get(client, taskId));
  });

  it('A task is found on its first instance after an edit has replaced the server', async () => {
    for (const rest of [{}, { 'truely-stateless': true }]) {
      await stage.edit({ s: fixture('tasks', [], rest) });
      const client = await open();
      const pid = await client.text('pid');
      const taskId = taskOf(await client.call('work', { asks: true }));
      await stage.edit({ s: fixture('tasks', [], { ...rest, env: { REPLACED: '1' } }) });
      assert.notEqual(await client.text('pid'), pid, 'the next call is served by the new one');
      assert.equal((await get(client, taskId)).result?.['status'], 'input_required');
      await client.request('tasks/update', { taskId, inputResponses: { name: { content: 'x' } } });
      assert.equal((await get(client, taskId)).result?.['status'], 'completed');
      await stage.until(
        () => !stage.instances('s').some((one) => String(one.pid) === pid),
        'the end of its instance',
      );
      refused(await get(client, taskId));
    }
  });

  it('Tasks keep their instance from idling as long as they may last', async () => {
    await stage.edit({ s: fixture('tasks', [], { timeouts: { idle: '50ms' } }) });
    const [long, short] = [await open(), await open()];
    const taskId = taskOf(await long.call('work'));
    taskOf(await short.call('work', { ttlMs: 60 }));
    await stage.until(
      () => stage.instances('s').filter(({ use }) => use.kind === 'leased').length === 1,
      'the end of one',
    );
    assert.equal((await get(long, taskId)).result?.['status'], 'working');
  });

  it('of a shared instance need no conversation', async () => {
    await stage.edit({
      t: fixture('tasks', [], { 'truely-stateless': true, transform: [{ prefix: 't_' }] }),
    });
    const [one, two] = [
      await ModernClient.open(stage, 't', knowing),
      await ModernClient.open(stage, 't', knowing),
    ];
    const shared = taskOf(await one.call('t_work'));
    assert.equal((await get(two, shared)).result?.['status'], 'working');
  });

  it('Updates of tasks reach their listeners only, with the outcome', async () => {
    await stage.edit({ s: fixture('tasks') });
    const [client, other] = [await open(), await open()];
    await other.text('pid');
    const [first, second] = [
      taskOf(await client.call('work', { asks: true })),
      taskOf(await client.call('work')),
    ];
    const heard = listen(client, [first, second, 'nothing']);
    assert.deepEqual(await heard.next(), { taskIds: [first, second] });
    assert.deepEqual(await listen(other, [first]).next(), {});
    await client.request('tasks/update', {
      taskId: first,
      inputResponses: { name: { content: { name: 'Ada' } } },
    });
    assert.deepEqual(shortly(await heard.next()), [first, 'completed', '{"name":"Ada"}']);
    await client.request('tasks/cancel', { taskId: second });
    assert.deepEqual(shortly(await heard.next()), [second, 'cancelled', undefined]);
    const refused = await (
      await open({} as typeof knowing.capabilities)
    ).request('subscriptions/listen', {
      notifications: { taskIds: [first] },
    });
    assert.deepEqual([refused.status, refused.error?.code], [400, -32021]);
  });

  it('Tasks are polled if an update may have been lost, and listening ends with their instance', async () => {
    await stage.edit({ s: fixture('tasks') });
    const client = await open();
    const [taskId, left] = [taskOf(await client.call('work')), taskOf(await client.call('work'))];
    const heard = listen(client, [taskId, left]);
    await heard.next();
    await client.text('leave', { taskId });
    assert.deepEqual(shortly(await heard.next()), [taskId, 'completed', 'unheard']);
    assert.deepEqual(shortly(await heard.next()), [left, 'working', undefined]);
    process.kill(Number(await client.text('pid')), 'SIGKILL');
    assert.equal(
      (await within(heard.end, 'the end of what is listened to')).result?.['resultType'],
      'complete',
    );
  });

  it('Listening to tasks over stdio ends at a gateway that does not know the task', async () => {
    await stage.edit({ s: fixture('tasks') });
    const { backend, log } = stage.core;
    const gateways = [0, 1].map(() =>
      createGateway({ backend, log, clock: systemClock }, { version: '1' }),
    );
    const [first, second] = gateways;
    assert(first && second);
    for (const gateway of gateways) {
      await gateway.start();
      stage.onDispose(() => gateway.dispose());
    }
    let now = Promise.resolve(first);
    const find = async (): Promise<{ url: string; token: string }> => {
      const { url, headers } = (await now).endpoint('s', 'agent');
      return { url, token: headers['Authorization']?.replace('Bearer ', '') ?? '' };
    };
    const pipe = new Pipe((input, output, signal) =>
      new Bridge({ input, output, find, clock: systemClock, log: silentLog, version: '1' }).run(
        signal,
      ),
    );
    stage.onDispose(() => pipe.close());
    const heard = new Emitter<Fields>();
    pipe.onmessage = (message: Fields) => heard.fire(message);
    await pipe.start();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': knowing.capabilities,
    };
    const ask = async (
      id: string,
      method: string,
      params: object,
      accept: (message: Fields) => boolean,
    ): Promise<Fields> => {
      const answer = nextEvent(heard.event, accept);
      await pipe.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } });
      return await within(answer, `the answer to ${method}`);
    };
    const begun = await ask('call', 'tools/call', { name: 'work' }, ({ id }) => id === 'call');
    const { taskId } = begun['result'] as { taskId: string };
    const isAgreed = ({ method }: Fields): boolean =>
      method === 'notifications/subscriptions/acknowledged';
    await ask('listen', 'subscriptions/listen', { notifications: { taskIds: [taskId] } }, isAgreed);
    let open: (gateway: Gateway) => void = () => {};
    now = new Promise((resolve) => (open = resolve));
    const ended = nextEvent(heard.event, ({ id }) => id === 'listen');
    const pids = stage.instances('s').map(({ pid }) => pid);
    await first.dispose();
    for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
    await stage.until(
      () => stage.instances('s').every(({ pid }) => !pids.includes(pid)),
      'the end of the instance',
    );
    open(second);
    assert.equal(
      ((await within(ended, 'the end of what is listened to'))['result'] as Fields)['resultType'],
      'complete',
    );
  });

  it('Task updates are not promised for servers that send none', async () => {
    await stage.edit({ s: fixture('tasks', ['--silent']) });
    const client = await open();
    assert.deepEqual(await listen(client, [taskOf(await client.call('work'))]).next(), {});
  });

  it('Results of tasks are treated like results of calls: in files, with corrected `data:` URLs', async () => {
    const { folder, delivery, settled } = keepResults(stage);
    await stage.gateway({ delivery });
    await stage.edit({ s: fixture('tasks', [], { transform: [{ prefix: 'my_' }] }) });
    const client = await open();
    const taskId = taskOf(await client.call('my_work'));
    const heard = listen(client, [taskId]);
    await heard.next();
    await client.call('my_done', { taskId, picture: true });
    const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' };
    const imageIn = (said: Fields | undefined): unknown =>
      (said?.['result'] as { content: unknown[] }).content[1];
    assert.deepEqual(imageIn(await heard.next()), image);
    assert.deepEqual(imageIn((await get(client, taskId)).result), image);
    await settled();
    const files = readdirSync(path.join(folder, 'artifacts', 'mcp', 's', 'my_work'));
    assert.equal(files.filter((file) => file.endsWith('.png')).length, 2);
  });

  it('Tasks pass at the endpoint of all toolsets to the right server despite equal ids', async () => {
    const named = (id: string): Entry =>
      fixture('tasks', ['--numbered'], { transform: [{ prefix: `${id}_` }] });
    await stage.edit({ a: named('a'), b: named('b') });
    const [client, other] = [
      await open(knowing.capabilities, '*'),
      await open(knowing.capabilities, '*'),
    ];
    const ids = [taskOf(await client.call('a_work')), taskOf(await client.call('b_work'))];
    const heard = listen(client, ids);
    assert.deepEqual(await heard.next(), { taskIds: ids });
    for (const taskId of ids) {
      const { result } = await get(client, taskId);
      assert.deepEqual([result?.['taskId'], result?.['status']], [taskId, 'working']);
      refused(await get(other, taskId));
      await client.request('tasks/cancel', { taskId });
      assert.deepEqual(shortly(await heard.next()), [taskId, 'cancelled', undefined]);
    }
    for (const taskId of ['1', 'c/1', '/1', 'a/', 'a/2']) refused(await get(client, taskId));
  });

  it('Tasks need a client that knows them: other modern clients get a clear error, older clients get no task', async () => {
    await stage.edit({ s: fixture('tasks') });
    const plain = await open({} as typeof knowing.capabilities);
    await plain.text('pid');
    for (const answer of [
      await plain.call('work'),
      await plain.request('tasks/get', { taskId: 'x' }),
    ]) {
      assert.deepEqual([answer.status, answer.error?.code], [400, -32021]);
      assert.deepEqual(answer.error?.data, {
        requiredCapabilities: { extensions: { [extension]: {} } },
      });
    }
    const old = await SessionClient.open(stage, 's', knowing as object);
    await assert.rejects(old.call('work'), { code: -32021 });
    await assert.rejects(
      old.client.request(
        { method: 'tasks/get', params: { taskId: 'x' } } as never,
        undefined as never,
      ),
    );
    await stage.edit({ s: fixture('features') });
    const client = await open();
    assert.equal((await client.request('tasks/get', { taskId: 'x' })).status, 404);
  });
});

describe('tools that must be called as tasks of 2025-11-25 (X8h)', function () {
  this.timeout(60_000);
  let stage: Stage;
  beforeEach(async () => {
    stage = await startStage();
    await stage.edit({ s: fixture('wants-tasks') });
  });
  afterEach(endStages);

  it('Task-only tools are called like any other by clients of both eras, with progress and questions', async () => {
    const accepts = { action: 'accept', content: { name: 'Ada' } } as const;
    const capabilities = { elicitation: {} };
    const old = await SessionClient.open(stage, 's', { capabilities, elicit: () => accepts });
    const research = (await old.client.listTools()).tools.find(({ name }) => name === 'research');
    assert.deepEqual([research?.name, research?.execution], ['research', undefined]);
    const steps: unknown[] = [];
    const options = { onprogress: (step: Progress) => void steps.push(step.message) };
    const call = { name: 'research', arguments: { asks: true } };
    const asked = (await old.client.callTool(call, undefined, options)) as {
      content: { text: string }[];
    };
    assert.deepEqual(JSON.parse(asked.content[0]?.text ?? ''), accepts);
    assert.deepEqual(steps, ['begun']);
    const modern = await ModernClient.open(stage, 's', {
      address: randomBytes(16).toString('base64url'),
    });
    assert.equal(await modern.text('research', { asks: false }), '"nobody"');
  });

  it('Task-only calls end on the server when the client stops waiting', async () => {
    const client = await SessionClient.open(stage, 's');
    const stop = new AbortController();
    const options = { signal: stop.signal, onprogress: () => stop.abort() };
    await assert.rejects(
      client.client.callTool({ name: 'endless', arguments: {} }, undefined, options),
    );
    while ((await client.text('states')) !== '["cancelled"]');
  });
});
