/** The instance of a task, its conversation, and its end, over fake servers (X8f, L2). */
import assert from 'node:assert/strict';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { ServerOutcome } from '../../../src/core/protocol/request.js';
import { rest } from '../../support/fakes/fakeClock.js';
import { listing, textResult, type FakeConnection } from '../../support/fakes/fakeConnector.js';
import { file, hostStage } from './stage.js';

const task = (taskId: string, ttlMs: number | null = null): ServerOutcome<CallToolResult> => ({
  kind: 'result',
  result: { resultType: 'task', taskId, status: 'working', ttlMs, content: [] },
});

describe('tasks (X8f)', () => {
  const stage = hostStage();

  /** A conversation calls, and its instance answers with a task. */
  async function begin(
    conversation: string,
    instance: FakeConnection | undefined,
    taskId: string,
  ): Promise<FakeConnection> {
    const call = stage.call('a', 'x', conversation);
    const connection = instance ?? (await stage.connector.nextConnect()).succeed(listing('x'));
    (await connection.nextCall()).answer(task(taskId));
    await call;
    connection.respond = () => ({
      kind: 'result',
      result: { taskId, status: 'completed', result: textResult(conversation) },
    });
    return connection;
  }
  const get = async (conversation: string, taskId: string): Promise<string> => {
    const { signal } = new AbortController();
    const params = { taskId };
    return JSON.stringify(
      await stage.host.request({ toolset: 'a', conversation, method: 'tasks/get', params, signal }),
    );
  };

  it('tasks with one id in two instances belong to their conversations', async () => {
    const warm = await stage.serve('a', 'command: a, timeouts: { idle: 10s }', 'x');
    const first = await begin('d1', warm, '1');
    const second = await begin('d2', undefined, '1');
    stage.clock.advance(60_000);
    assert.deepEqual(
      [first.closed, second.closed],
      [false, false],
      'what works on a task is not idle',
    );
    assert.match(await get('d1', '1'), /"d1"/);
    assert.match(await get('d2', '1'), /"d2"/);
    assert.match(await get('d3', '1'), /There is no such task here/);
    stage.clock.advance(10_000);
    assert.deepEqual([first.closed, second.closed], [true, true], 'their tasks are over');
  });

  it('tasks keep a released lease only as long as its conversation can ask for them', async () => {
    const first = await begin('d1', await stage.serve('a', 'command: a', 'x'), '1');
    await stage.host.release('a', 'd1');
    assert.equal(first.closed, false);
    const second = await begin('d1', undefined, '1');
    await rest();
    assert.equal(first.closed, true, 'nobody can ask for its task any more');
    assert.match(await get('d1', '1'), /completed/);
    assert.equal(second.closed, false);
  });

  it('tasks go on if an instance began them after a reload replaced it (R4)', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x', 'd1');
    const running = await warm.nextCall();
    const edited = stage.edit(file({ a: 'command: b' }));
    (await stage.connector.nextConnect()).succeed(listing('x'));
    await edited;
    running.answer(task('1'));
    await call;
    warm.respond = () => ({
      kind: 'result',
      result: { taskId: '1', status: 'completed', result: textResult('late') },
    });
    await rest();
    assert.match(await get('d1', '1'), /late/);
    await rest();
    assert.equal(warm.closed, true, 'its last task is over');
  });

  it('tasks of an ended instance are forgotten', async () => {
    await begin('d1', await stage.serve('a', 'command: a, timeouts: { idle: 1s }', 'x'), '1');
    const restarted = stage.host.restart('a');
    const next = (await stage.connector.nextConnect()).succeed(listing('x'));
    await restarted;
    assert.match(await get('d1', '1'), /There is no such task here/);
    stage.clock.advance(1_000);
    await rest();
    assert.deepEqual([next.closed, stage.clock.pending], [true, 0]);
  });

  it('tasks of a shared server outlive its instance', async () => {
    await begin('d1', await stage.serve('a', 'command: a, truely-stateless: true', 'x'), '1');
    const restarted = stage.host.restart('a');
    const next = (await stage.connector.nextConnect()).succeed(listing('x'));
    await restarted;
    next.respond = () => ({
      kind: 'result',
      result: { taskId: '1', status: 'completed', result: textResult('kept') },
    });
    assert.match(await get('d2', '1'), /kept/);
  });
});
