/** Unknown extensions of the protocol (X8): their methods, results and notifications, and the limits. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { fixture } from '../../support/core/configText.js';
import { ModernClient, type Message } from '../../support/core/modernClient.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const notes = 'skill://notes/SKILL.md';
const own = { 'example.com/extension': { level: 1 } };
const knowing = { extensions: { ...own, 'io.modelcontextprotocol/skills': {} } };
const shared = { 'truely-stateless': true };

describe('unknown extensions (X8)', function () {
  this.timeout(60_000);
  let stage: Stage;
  beforeEach(async () => (stage = await startStage()));
  afterEach(endStages);

  const open = (toolset = 's', capabilities: object = knowing): Promise<ModernClient> =>
    ModernClient.open(stage, toolset, {
      capabilities: { ...capabilities },
      address: randomBytes(16).toString('base64url'),
    });
  const unknown = ({ status, error }: Message): void => assert.deepEqual([status, error?.code], [404, -32601]);

  it('Skills pass unchanged, and the resource filter applies to their URIs', async () => {
    await stage.edit({ s: fixture('extended', [], { ...shared, resources: { blacklist: ['skill://hidden/*'] } }) });
    const client = await open();
    const listed = await client.request('resources/list');
    const [skill, ...more] = listed.result?.['resources'] as { uri: string }[];
    const license = { 'io.modelcontextprotocol.skills/license': 'MIT' };
    assert.deepEqual(skill, { uri: notes, name: 'notes', mimeType: 'text/markdown', _meta: license });
    assert.deepEqual(more, []);
    const read = (await client.request('resources/read', { uri: notes })).result?.['contents'];
    assert.deepEqual(read, [{ ...skill, text: `---\nname: ${notes}\n---\n` }]);
    const resources = [{ uri: notes, digest: 'sha256:00' }];
    const hints = { ttlMs: 60_000, cacheScope: 'public' };
    const { result: got } = await client.request('skills/get', { uri: notes });
    assert.deepEqual(got, {
      resultType: 'complete',
      skill: { uri: notes, frontmatter: { name: 'notes' }, resources },
      ...hints,
    });
    const all = (await client.request('skills/list')).result?.['skills'] as { uri: string }[];
    assert.deepEqual(
      all.map(({ uri }) => uri),
      [notes, 'skill://hidden/SKILL.md'],
    );
    const directory = await client.request('resources/directory/read', { uri: 'skill://notes' });
    assert.deepEqual(directory.result?.['resources'], [skill]);
    for (const [method, uri] of [
      ['skills/get', 'skill://hidden/SKILL.md'],
      ['resources/directory/read', 'skill://hidden/x'],
      ['resources/read', 'skill://hidden/SKILL.md'],
    ] as const) {
      const { error } = await client.request(method, { uri });
      assert.deepEqual([error?.code, /no resource/.test(error?.message ?? '')], [-32602, true]);
    }
  });

  it('Methods of extensions pass with parameters, results of any type, errors and notifications', async () => {
    await stage.edit({ s: fixture('extended') });
    const client = await open();
    const params = { said: 'hello', requestState: 'mine', inputResponses: { a: 1 }, as: 'example.com/other' };
    const { result, told } = await client.request('example.com/echo', params, { meta: { 'example.com/key': 'kept' } });
    const { params: heard, ...rest } = result as { params: { _meta: Record<string, unknown> } };
    assert.deepEqual(rest, { resultType: 'example.com/other' });
    const { _meta: meta, ...body } = heard;
    assert.deepEqual(body, params);
    assert.equal(meta['example.com/key'], 'kept');
    assert.deepEqual(told, [{ method: 'notifications/example.com/heard', params: { said: 'hello' } }]);
    const { error } = await client.request('example.com/echo', { code: 1234 });
    assert.deepEqual(error, { code: 1234, message: 'it was asked for', data: { why: 'so' } });
    // Each conversation has its own instance, so a cached answer must not reach another one.
    const { ttlMs, cacheScope } = (await client.request('skills/list')).result ?? {};
    assert.deepEqual([ttlMs, cacheScope], [0, 'private']);
    assert.equal(stage.instances('s').filter(({ use }) => use.kind === 'leased').length, 1);
  });

  it('A call gets a result of an extension only if the client knows the extension, and fails otherwise', async () => {
    await stage.edit({ s: fixture('extended') });
    const client = await open();
    assert.deepEqual((await client.call('later')).result, { resultType: 'example.com/later', ticket: 7 });
    // The first text of a conversation contains the note about its lease.
    const { result } = await client.call('known');
    assert.match(JSON.stringify(result), /example\.com.*\[MCP Toolsets\]/);
    for (const capabilities of [{}, { extensions: { 'example.com/another': {} } }]) {
      const { error } = await (await open('s', capabilities)).call('later');
      assert.match(error?.message ?? '', /a result of an unknown type: "example\.com\/later"/);
    }
  });

  it('A server learns which extensions the client declares', async () => {
    await stage.edit({ s: fixture('extended', [], shared) });
    assert.deepEqual(JSON.parse(await (await open()).text('known')), knowing.extensions);
    assert.equal(await (await open('s', {})).text('known'), '{}');
  });

  it('Tool and prompt methods, older clients, all toolsets at once and plain servers have no extensions', async () => {
    await stage.edit({
      s: fixture('extended', [], shared),
      plain: fixture('extended', ['--plain'], { ...shared, transform: [{ prefix: 'p_' }] }),
    });
    const client = await open();
    unknown(await client.request('tools/secret'));
    unknown(await client.request(`example.com/${'x'.repeat(300)}`));
    unknown(await (await open('plain')).request('skills/list'));
    unknown(await (await open('*')).request('skills/list'));
    const old = await SessionClient.open(stage, 's');
    await assert.rejects(old.client.request({ method: 'skills/list' } as never, undefined as never), /Unknown method/);
    // The server itself refuses an unknown method.
    assert.equal((await client.request('example.com/nothing')).error?.code, -32601);
  });
});
