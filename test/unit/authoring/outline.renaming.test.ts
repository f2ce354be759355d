import assert from 'node:assert/strict';
import { renamedInOther, renamedServer, serverAt } from '../../../src/core/authoring/outline.js';
import { newAgentFile } from '../../../src/core/team/agentFiles.js';
import { renamedInAgent, renamedInTeam } from '../../../src/core/team/renaming.js';
import { applyEdits } from '../../../src/core/yaml/edits.js';

const file = "version: 1\nservers:\n  a: &a # one\n    command: a\n  'b': *a\n";

function renamed(text: string, id: string, to: string): string {
  const found = serverAt(text, text.indexOf(id) + 1);
  assert.ok(found);
  const edits = renamedServer(text, found.keySpan, to);
  return typeof edits === 'string' ? edits : applyEdits(text, edits);
}

describe('renaming a server (E2)', () => {
  it('a rename changes only the id', () => {
    assert.equal(renamed(file, 'a:', 'web'), file.replace('  a:', '  web:'));
    assert.equal(renamed(file, "b'", 'web'), file.replace("'b'", "'web'"));
    assert.equal(serverAt(file, file.indexOf('command')), undefined);
  });

  const refused: readonly (readonly [string, string, RegExp])[] = [
    [file, 'b', /already has a server/],
    [file, 'no blanks', /letters, digits/],
    [file, 'mcp_admin', /built-in/],
    [`${file}x: [`, 'web', /has an error/],
  ];
  for (const [text, to, why] of refused) {
    it(`a rename is refused for ${to} in ${JSON.stringify(text.slice(-8))}`, () =>
      assert.match(renamed(text, 'a:', to), why));
  }

  it('a rename changes a layer too, and is refused for an id there (C7)', () => {
    const local = 'version: 1\nservers:\n  a: { enabled: false }\n  own: {}\n';
    const to = (name: string): string =>
      applyEdits(local, renamedInOther(local, { from: 'a', to: name }));
    assert.equal(to('web'), local.replace('a:', 'web:'));
    assert.throws(() => to('own'), /already has a server/);
    assert.deepEqual(renamedInOther(local, { from: 'b', to: 'own' }), []);
  });

  it('a rename changes the grants of the team', () => {
    const team = (id: string): string =>
      `members:\n  ann:\n    toolsets: &t ['*', '!${id}'] # not ${'a'}\n  bob:\n    name: a\n    toolsets:\n      - ${id}\n      - ab\n  cem: { toolsets: *t }\nmember_defaults:\n  toolsets: ["${id}"]\n`;
    const edits = renamedInTeam(team('a'), { from: 'a', to: 'web' });
    assert.equal(applyEdits(team('a'), edits), team('web'));
    assert.deepEqual(renamedInTeam('members: [', { from: 'a', to: 'web' }), []);
  });

  it('a rename changes agent files, except those of members, because they follow the team', () => {
    const one = { from: 'shop', to: 'Store' };
    const member = newAgentFile({ id: 'ann', name: 'Ann', purpose: undefined, toolsets: ['shop'] });
    assert.deepEqual(renamedInAgent(member, one), []);
    const own = (shop: string): string =>
      `---\ndescription: shop\ntools:\n  - read\n  - '${shop}/order' # one\n  - shop-two/*\n---\nUse shop.\n`;
    assert.equal(applyEdits(own('Shop'), renamedInAgent(own('Shop'), one)), own('store'));
    const line = (shop: string): string => `---\ntools: read, ${shop}/*, ${shop}/order\n---\n`;
    assert.equal(applyEdits(line('shop'), renamedInAgent(line('shop'), one)), line('store'));
    assert.deepEqual(renamedInAgent('Use shop.', one), []);
  });
});
