import assert from 'node:assert/strict';
import type { StatusSnapshot } from '../../../../src/core/reconcile/status.js';
import { badgeOf, sidebarMessage } from '../../../../src/vscode/views/phrases.js';
import { file, problem, snapshot, status } from './statuses.js';

const serving = (of: StatusSnapshot) => ({ phase: 'serving', snapshot: of }) as const;
const message = (of: StatusSnapshot): string => sidebarMessage(serving(of), (path) => path);

describe('sidebar, outside its rows', () => {
  it('says that a file was refused, and which servers run', () => {
    assert.match(
      message(snapshot([status('a')], { refused: [{ file, since: 0 }] })),
      /mcp\.yaml has an error.*still applies/,
    );
    const own = status('a', { source: '/home/.minds/mcp.yaml' });
    assert.match(
      message(snapshot([own], { refused: [{ file, since: 0 }] })),
      /\/folder\/.minds\/mcp\.yaml has an error\. None of its servers run/,
    );
  });

  it('says that every server is disabled', () => {
    assert.match(
      message(snapshot([status('a', { state: { kind: 'disabled' } })])),
      /Every server is disabled/,
    );
    assert.equal(
      message(snapshot([status('a', { state: { kind: 'disabled' } }), status('b')])),
      '',
    );
  });

  it('says that there are too many tools', () => {
    const problems = [problem({ code: 'too-many-tools' })];
    assert.match(message(snapshot([status('a')], { problems })), /at most 128 tools/);
  });

  it('has no message without servers, because the row of the mistake says it', () => {
    const broken = snapshot([], { refused: [{ file, since: 0 }], problems: [problem()] });
    assert.equal(message(broken), '');
  });

  it('counts the servers that need attention in its badge', () => {
    assert.equal(badgeOf(snapshot([status('a')])), undefined);
    const changedOffers = [
      { launch: '', kind: 'tool', original: 'x', parts: ['new'], held: true },
    ] as const;
    assert.deepEqual(badgeOf(snapshot([status('a', { changedOffers })])), {
      value: 1,
      tooltip: '1 server has changed tools',
    });
    assert.deepEqual(badgeOf(snapshot([status('a', { state: { kind: 'invalid' } })])), {
      value: 1,
      tooltip: '1 problem with MCP servers',
    });
  });
});
