import assert from 'node:assert/strict';
import type { TurnEnd } from '../../../../src/core/minds/conversation.js';
import { recordOf } from '../../../../src/core/minds/history.js';
import type { StatusSnapshot } from '../../../../src/core/reconcile/status.js';
import type { EngineSlot } from '../../../../src/vscode/engine/engineSlot.js';
import { followupsOf, metadataOf } from '../../../../src/vscode/minds/chatCommands.js';
import type { TeamView } from '../../../../src/vscode/minds/teamFiles.js';
import { snapshot } from '../views/statuses.js';
import { broken, counter, window } from './windows.js';

describe('follow-ups of @minds', () => {
  const slotOf = (of: StatusSnapshot): EngineSlot =>
    ({ state: window(of) }) as unknown as EngineSlot;
  const team = (members: readonly unknown[]): TeamView => ({ members }) as TeamView;
  const after = (end: TurnEnd['kind'], member?: string) => ({
    metadata: metadataOf(
      recordOf({
        conversation: 'mine',
        messages: [],
        end,
        ...(member !== undefined && { member }),
      }),
    ),
  });

  it('follow-ups offer to continue, release, look at errors and choose a member, at most three', () => {
    const all = followupsOf(after('stopped'), slotOf(snapshot([counter, broken])), team([{}]));
    assert.deepEqual(
      all.map(({ command, prompt }) => `${command} ${prompt}`.trim()),
      ['continue', 'release counter', 'mcp'],
    );
    const answered = followupsOf(after('answered'), slotOf(snapshot([])), team([{}]));
    assert.deepEqual(
      answered.map(({ command }) => command),
      ['as'],
    );
    assert.deepEqual(followupsOf(after('answered', 'alice'), slotOf(snapshot([])), team([{}])), []);
    assert.deepEqual(followupsOf(after('stepLimit'), slotOf(snapshot([])), team([])).length, 1);
  });

  it('there are no follow-ups for an answer of another participant', () => {
    for (const metadata of [undefined, {}, { mcpToolsets: 'x' }]) {
      assert.deepEqual(
        followupsOf({ metadata } as never, slotOf(snapshot([counter])), team([{}])),
        [],
      );
    }
  });
});
