import assert from 'node:assert/strict';
import {
  agentFileName,
  memberOf,
  newAgentFile,
  withGrants,
} from '../../../src/core/team/agentFiles.js';

describe('members as custom agents', () => {
  const alice = {
    id: 'alice',
    name: 'Alice',
    purpose: "tests: ours and others'",
    toolsets: ['browser', 'Shop'],
  };
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

  it('agent files follow the grants, and keep a person’s text', () => {
    const own = file
      .replace(
        "tools: ['browser/*', 'shop/*']",
        "# mine\ntools: # all of these\n  - read\n  - browser/*\n  - 'shop/*'\nmodel: x",
      )
      .replace('You are Alice', 'You are the one');
    assert.equal(withGrants(own, alice), own, 'in whatever layout');
    const fewer = withGrants(own, { ...alice, toolsets: ['files'] }) ?? '';
    assert.match(
      fewer,
      /\n# mine\ntools: # all of these\n {2}- read\n {2}- 'files\/\*'\nmodel: x\n---/,
    );
    assert.match(fewer, /member alice; toolsets: files -->/);
    assert.match(fewer, /You are the one/);
    const none = withGrants(fewer, { ...alice, toolsets: [] }) ?? '';
    assert.match(none, /tools: # all of these\n {2}- read\nmodel/);
    assert.match(
      withGrants(none, alice) ?? '',
      /\n {2}- read\n {2}- 'browser\/\*'\n {2}- 'shop\/\*'\nmodel/,
    );
  });

  it('agent files lose single tools of a removed toolset, and get back a removed `tools`', () => {
    const single = file.replace("'browser/*'", "'browser/click', 'browser/open'");
    assert.match(
      withGrants(single, { ...alice, toolsets: ['Shop'] }) ?? '',
      /tools: \['shop\/\*'\]/,
    );
    assert.match(
      withGrants(file.replace(/tools: .*\n/, ''), alice) ?? '',
      /\ntools: \['browser\/\*', 'shop\/\*'\]\n---/,
    );
    assert.match(
      withGrants(file.replace(/tools: .*\n/, 'tools:\n'), alice) ?? '',
      /\ntools: \['browser\/\*', 'shop\/\*'\]\n---/,
    );
  });

  describe('only the grants of an agent file change, in every layout', () => {
    const rows: readonly (readonly [string, string, string])[] = [
      ['a comment in the place of the value', 'tools: # nothing yet', "tools: ['shop/*', 'files/*'] # nothing yet"],
      ['a text with commas', "tools: 'browser/*, search' # c", "tools: ['search', 'shop/*', 'files/*'] # c"],
      ['a plain text', 'tools: search', "tools: ['search', 'shop/*', 'files/*']"],
      ['comments between and behind items', "tools:\n  - 'browser/*' # the browser\n  # read-only: never add a terminal\n  - search # needed for docs\nmodel: x", "tools:\n  # read-only: never add a terminal\n  - search # needed for docs\n  - 'shop/*'\n  - 'files/*'\nmodel: x"],
      ['comments in flow style', "tools: ['browser/*', # x\n  search] # y\nmodel: x", "tools: [ # x\n  search, 'shop/*', 'files/*'] # y\nmodel: x"],
      ['items that are no texts', "tools:\n  - x: y\n  - 'shop/*'\n", "tools:\n  - x: y\n  - 'shop/*'\n  - 'files/*'\n"],
      ['an anchor', 'tools: &t [search]\nmore: *t', "tools: &t [search, 'shop/*', 'files/*']\nmore: *t"],
      ['an alias', 'more: &t [search, browser/*]\ntools: *t # c', "more: &t [search, browser/*]\ntools: ['search', 'shop/*', 'files/*'] # c"],
    ]; // oxfmt-ignore
    const text = (front: string): string => file.replace(/tools: .*/, () => front);
    const granted = (toolsets: string[]) => ({ ...alice, toolsets });
    for (const [name, front, expected] of rows) {
      it(name, () => {
        const after =
          withGrants(text(front), granted(['Shop', 'files'])) ?? assert.fail('not changed');
        const whole = text(expected).replace('toolsets: browser, Shop', 'toolsets: Shop, files');
        assert.equal(after, whole);
        assert.equal(withGrants(after, granted(['Shop', 'files'])), after, 'and once is enough');
      });
    }

    it('a great many tools change at once', () => {
      const front = `tools: [${"'browser/click', ".repeat(10_000)}search]`;
      const after = withGrants(text(front), granted(['Shop'])) ?? assert.fail('not changed');
      assert.match(after, /\ntools: \['search', 'shop\/\*'\]\n/);
    });

    it('no agent file remains for a member without grants', () => {
      for (const [front, expected] of [
        [
          "tools: # mine\n  - 'browser/*' # b\n  # c\nmodel: x",
          'tools: [] # mine\n  # c\nmodel: x',
        ],
        ["tools: ['browser/*', shop/x]", 'tools: []'],
        ['tools: browser/*', 'tools: []'],
        ['tools: # c', 'tools: [] # c'],
      ] as const) {
        const whole = text(expected).replace('toolsets: browser, Shop', 'toolsets: ');
        assert.equal(withGrants(text(front), granted([])), whole);
      }
    });
  });

  it('marks in an agent file are found in linear time, in any content (S2)', () => {
    const mark = '<!-- MCP Toolsets: member x; toolsets:';
    const text = mark.repeat(1_000_000 / mark.length);
    assert.equal(memberOf(text), undefined);
    assert.equal(memberOf(`${text} browser -->`), 'x');
  }).timeout(2_000);

  it('foreign and unreadable agent files are not changed', () => {
    assert.equal(withGrants("---\ntools: ['x']\n---\nHi", alice), undefined);
    assert.equal(withGrants(file.replace('name: alice', 'name: [alice'), alice), undefined);
    assert.equal(withGrants(file.replace(/^---\n/, ''), alice), undefined);
  });
});
