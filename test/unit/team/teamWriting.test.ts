/** Help with writing the team file, and members as custom agents of the editor (D2). */
import assert from 'node:assert/strict';
import { agentFileName, memberOf, newAgentFile, withGrants } from '../../../src/core/team/agentFiles.js';
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
  const taken = first ? source.slice(0, first.span.start) + first.insert + source.slice(first.span.end) : source;
  return { labels: found.map(({ label }) => label), taken };
}

describe('completion in team.yaml', () => {
  const all = ['browser', 'shop', '*', '!browser', '!shop'];

  it('toolset ids wherever grants stand', () => {
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

  it('members for `default_responder`, keys where keys stand, and nothing elsewhere', () => {
    assert.deepEqual(complete('members:\n  alice: {}\n  bob: {}\ndefault_responder: |\n').labels, ['alice', 'bob']);
    assert.deepEqual(complete('|').labels, ['members', 'member_defaults', 'default_responder']);
    assert.deepEqual(complete('members:\n  alice:\n    |\n').labels, ['toolsets', 'name', 'gofor']);
    assert.deepEqual(complete('members:\n  alice:\n    model: |\n').labels, []);
  });
});

describe('members as custom agents', () => {
  const alice = { id: 'alice', name: 'Alice', purpose: "tests: ours and others'", toolsets: ['browser', 'Shop'] };
  const file = newAgentFile(alice);

  it('name the granted toolsets as the editor does', () => {
    assert.equal(agentFileName('alice'), 'alice.agent.md');
    assert.match(
      file,
      /^---\nname: alice\ndescription: 'tests: ours and others'''\ntools: \['browser\/\*', 'shop\/\*'\]\n---\n/,
    );
    assert.equal(memberOf(file), 'alice');
    assert.equal(withGrants(file, alice), file, 'nothing to change');
  });

  it('follow the grants, and keep what a person wrote', () => {
    const own = file
      .replace(
        "tools: ['browser/*', 'shop/*']",
        "# mine\ntools: # all of these\n  - read\n  - browser/*\n  - 'shop/*'\nmodel: x",
      )
      .replace('You are Alice', 'You are the one');
    assert.equal(withGrants(own, alice), own, 'in whatever layout');
    const fewer = withGrants(own, { ...alice, toolsets: ['files'] }) ?? '';
    assert.match(fewer, /\n# mine\ntools: \['read', 'files\/\*'\]\nmodel: x\n---/);
    assert.match(fewer, /member alice; toolsets: files -->/);
    assert.match(fewer, /You are the one/);
    const none = withGrants(fewer, { ...alice, toolsets: [] }) ?? '';
    assert.match(none, /tools: \['read'\]/);
    assert.match(withGrants(none, alice) ?? '', /tools: \['read', 'browser\/\*', 'shop\/\*'\]/);
  });

  it('take single tools of a toolset away with it, and put `tools` back where it was removed', () => {
    const single = file.replace("'browser/*'", "'browser/click', 'browser/open'");
    assert.match(withGrants(single, { ...alice, toolsets: ['Shop'] }) ?? '', /tools: \['shop\/\*'\]/);
    assert.match(
      withGrants(file.replace(/tools: .*\n/, ''), alice) ?? '',
      /\ntools: \['browser\/\*', 'shop\/\*'\]\n---/,
    );
    assert.match(
      withGrants(file.replace(/tools: .*\n/, 'tools:\n'), alice) ?? '',
      /\ntools: \['browser\/\*', 'shop\/\*'\]\n---/,
    );
  });

  it('leave alone what is not theirs, or cannot be read', () => {
    assert.equal(withGrants("---\ntools: ['x']\n---\nHi", alice), undefined);
    assert.equal(withGrants(file.replace('name: alice', 'name: [alice'), alice), undefined);
    assert.equal(withGrants(file.replace(/^---\n/, ''), alice), undefined);
  });
});
