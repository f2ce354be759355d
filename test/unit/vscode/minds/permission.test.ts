import assert from 'node:assert/strict';
import { needsQuestion } from '../../../../src/vscode/minds/permission.js';
import { tool } from '../../dialog/fakes.js';

describe('a question before a call', () => {
  const reads = tool('shop_count', { annotations: { readOnlyHint: true } });
  const writes = tool('shop_pay');
  const asks = (one: typeof reads, ...settings: unknown[]): boolean => needsQuestion(one, settings);

  it('is asked unless the tool only reads, or is the host’s own', () => {
    assert.deepEqual([asks(reads), asks(writes), asks(tool('mcp_release'))], [false, true, false]);
    assert.equal(asks(reads, undefined, undefined, undefined), false);
  });

  it('is spared by a rule of the person alone', () => {
    assert.equal(asks(writes, { 'shop_*': 'allow' }), false);
    assert.equal(asks(writes, undefined, { 'shop_*': 'allow' }), true, 'of the workspace');
    assert.equal(asks(writes, { 'bank_*': 'allow' }), true, 'of another tool');
  });

  it('is asked wherever a rule says so, also for what only reads', () => {
    assert.equal(asks(reads, { shop_count: 'ask' }), true);
    assert.equal(asks(reads, undefined, { '*': 'ask' }), true, 'of the workspace');
    assert.equal(asks(writes, { '*': 'allow' }, { shop_pay: 'ask' }), true, 'the stricter counts');
    assert.equal(asks(tool('mcp_restart'), { 'mcp_*': 'ask' }), true);
    assert.equal(asks(reads, { shop_count: 'perhaps' }), true, 'what is not known is asked');
  });
});
