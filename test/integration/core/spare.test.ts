/**
 * A spare instance of real servers starts before its conversation and ends with its reason (P9,
 * S1).
 */
import assert from 'node:assert/strict';
import { ApprovalLedger } from '../../../src/core/approval/ledger.js';
import { MemoryApprovals } from '../../support/core/memoryApprovals.js';
import { http, officialServer, rawWith } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

describe('core: the spare instance', () => {
  let stage: Stage;
  afterEach(endStages);

  const uses = (id: string): string[] => stage.instances(id).map(({ use }) => use.kind);
  const untilUses = (id: string, ...wanted: string[]): Promise<unknown> =>
    stage.until(() => uses(id).join() === wanted.join(), `${id} to have ${wanted.join(', ')}`);
  const pidOfSpare = (id: string): number | undefined =>
    stage.instances(id).find(({ use }) => use.kind === 'spare')?.pid;

  it('A spare instance serves the first call of the next conversation, and another one follows', async () => {
    stage = await startStage({ conversations: { memory: 2 } });
    await stage.edit({ memory: officialServer('memory') });
    await stage.result('memory', 'read_graph', {}, { conversation: 'd1' });
    await untilUses('memory', 'leased', 'spare');
    assert.match(
      await stage.text('mcp_admin', 'mcp_status', {}, { conversation: 'd1' }),
      /memory: running, .*, this conversation has an instance in .*, a spare instance waits for the next conversation$/m,
    );
    const spare = pidOfSpare('memory');
    await stage.result('memory', 'read_graph', {}, { conversation: 'd2' });
    const leased = stage
      .instances('memory')
      .find(({ use }) => use.kind === 'leased' && use.conversation === 'd2');
    assert.equal(leased?.pid, spare);
    await untilUses('memory', 'leased', 'leased', 'spare');
  });

  it('A spare instance of an HTTP server has its own session', async () => {
    stage = await startStage({ conversations: { far: 2 } });
    const server = await stage.http('http');
    await stage.edit({ far: http(server.url) });
    const [tool = ''] = stage.publishedBy('far');
    await stage.outcome('far', tool, {}, { conversation: 'd1' });
    await untilUses('far', 'leased', 'spare');
  });

  it('A spare instance ends with the approval of its launch', async () => {
    const approvals = new ApprovalLedger({ store: new MemoryApprovals(), asks: () => true });
    stage = await startStage({ approvals, conversations: { a: 2 } });
    await stage.edit({ a: rawWith(['echo']) });
    const { approval } = stage.server('a');
    assert.ok(approval.kind === 'pending');
    await approvals.approve([approval.launch]);
    await stage.until(() => stage.published().length === 1, 'the tool');
    await stage.text('a', 'echo', { text: 'x' });
    await untilUses('a', 'leased', 'spare');
    await approvals.revoke({ server: 'a', source: stage.file });
    await untilUses('a');
  });
});
