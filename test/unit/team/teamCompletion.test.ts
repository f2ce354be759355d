import assert from 'node:assert/strict';
import { completeTeam } from '../../../src/core/team/teamCompletion.js';

const toolsets = [
  { id: 'browser', state: '12 tools' },
  { id: 'shop', state: 'failed' },
];

/** The labels at `|`, and the text after taking the first. */
function complete(text: string): { labels: string[]; taken: string } {
  const offset = text.indexOf('|');
  const source = text.replace('|', '');
  const found = completeTeam(source, offset, toolsets);
  const [first] = found;
  const taken = first
    ? source.slice(0, first.span.start) + first.insert + source.slice(first.span.end)
    : source;
  return { labels: found.map(({ label }) => label), taken };
}

describe('completion in team.yaml', () => {
  const all = ['browser', 'shop', '*', '!browser', '!shop'];

  it('completion offers toolset ids at each place of a grant', () => {
    assert.deepEqual(complete('members:\n  alice:\n    toolsets: [|]\n').labels, all);
    assert.deepEqual(complete('members:\n  alice:\n    toolsets:\n      - |\n').labels, all);
    assert.deepEqual(complete('member_defaults:\n  toolsets: [shop, |]\n').labels, all);
    assert.equal(
      complete('members:\n  alice:\n    toolsets: [br|]\n').taken,
      'members:\n  alice:\n    toolsets: [browser]\n',
    );
    assert.equal(
      complete('members:\n  alice:\n    toolsets: |\n').taken,
      'members:\n  alice:\n    toolsets: [browser]\n',
    );
  });

  it('completion offers members for `default_responder`, keys at the places of keys, and nothing elsewhere', () => {
    assert.deepEqual(complete('members:\n  alice: {}\n  bob: {}\ndefault_responder: |\n').labels, [
      'alice',
      'bob',
    ]);
    assert.deepEqual(complete('|').labels, ['members', 'member_defaults', 'default_responder']);
    assert.deepEqual(complete('members:\n  alice:\n    |\n').labels, ['toolsets', 'name', 'gofor']);
    assert.deepEqual(complete('members:\n  alice:\n    model: |\n').labels, []);
  });
});
