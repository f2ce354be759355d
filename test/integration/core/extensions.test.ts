/**
 * Extensions of the protocol that MCP Toolsets does not know (X8i): none of their methods pass, in
 * either direction.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { fixture } from '../../support/core/configText.js';
import { ModernClient, type Message } from '../../support/core/modernClient.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const notes = 'skill://notes/SKILL.md';
const knowing = {
  extensions: { 'example.com/extension': { level: 1 }, 'io.modelcontextprotocol/skills': {} },
};
const shared = { 'truely-stateless': true };

describe('unknown extensions of the protocol (X8i)', function () {
  this.timeout(60_000);
  let stage: Stage;
  beforeEach(async () => (stage = await startStage()));
  afterEach(endStages);

  const open = (toolset = 's', capabilities: object = knowing): Promise<ModernClient> =>
    ModernClient.open(stage, toolset, {
      capabilities: { ...capabilities },
      address: randomBytes(16).toString('base64url'),
    });
  const unknown = ({ status, error }: Message): void =>
    assert.deepEqual([status, error?.code], [404, -32601]);

  it('skills pass as resources, behind the filter of resources', async () => {
    await stage.edit({
      s: fixture('extended', [], { ...shared, resources: { blacklist: ['skill://hidden/*'] } }),
    });
    const client = await open();
    const listed = await client.request('resources/list');
    const [skill, ...more] = listed.result?.['resources'] as { uri: string }[];
    const license = { 'io.modelcontextprotocol.skills/license': 'MIT' };
    assert.deepEqual(skill, {
      uri: notes,
      name: 'notes',
      mimeType: 'text/markdown',
      _meta: license,
    });
    assert.deepEqual(more, []);
    const read = (await client.request('resources/read', { uri: notes })).result?.['contents'];
    assert.deepEqual(read, [{ ...skill, text: `---\nname: ${notes}\n---\n` }]);
    const { error } = await client.request('resources/read', { uri: 'skill://hidden/SKILL.md' });
    assert.deepEqual([error?.code, /no resource/.test(error?.message ?? '')], [-32602, true]);
  });

  it('a method of an unknown extension is an unknown method, for every client and every address', async () => {
    await stage.edit({ s: fixture('extended', [], shared) });
    const client = await open();
    for (const method of [
      'skills/list',
      'resources/directory/read',
      'example.com/echo',
      'tools/secret',
      'a b',
    ])
      unknown(await client.request(method, { uri: notes }));
    unknown(await client.request(`example.com/${'x'.repeat(300)}`));
    unknown(await (await open('*')).request('skills/list'));
    const old = await SessionClient.open(stage, 's');
    await assert.rejects(
      old.client.request({ method: 'skills/list' } as never, undefined as never),
      /Unknown method/,
    );
  });

  it('a call fails if its result has a type of an unknown extension', async () => {
    await stage.edit({ s: fixture('extended') });
    for (const capabilities of [{}, knowing]) {
      const { error } = await (await open('s', capabilities)).call('later');
      assert.match(error?.message ?? '', /a result of an unknown type: "example\.com\/later"/);
    }
  });

  it('neither side learns of the unknown extensions of the other', async () => {
    await stage.edit({ s: fixture('extended', [], shared) });
    const client = await open();
    assert.equal(await client.text('known'), '{}');
    const { capabilities } = (await client.request('server/discover')).result as {
      capabilities: object;
    };
    assert.equal('extensions' in capabilities, false);
  });
});
