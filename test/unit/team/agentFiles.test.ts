import assert from 'node:assert/strict';
import { agentFileName, memberOf, newAgentFile, withGrants } from '../../../src/core/team/agentFiles.js';

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
