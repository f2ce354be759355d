/**
 * Each version of the protocol on either side (G2b). Features of a version pass, and later
 * features are hidden from an older peer.
 */
import assert from 'node:assert/strict';
import { fixture } from '../../support/core/configText.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { RawClient, type Json } from '../gateway/rawClient.js';

const versions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;
const declared = {
  roots: { listChanged: true },
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
};
const png = 'data:image/png;base64,AA==';

/** A client of the gateway in one version. */
class OldClient {
  readonly asked: { method: string; params: Json }[] = [];

  private constructor(
    readonly raw: RawClient,
    readonly initialized: Json,
  ) {}

  static async open(stage: Stage, toolset: string, version: string): Promise<OldClient> {
    const raw = new RawClient((await stage.gateway()).endpoint(toolset, 'agent'));
    stage.onDispose(async () => {
      await raw.send('DELETE');
      raw.close();
    });
    const { result } = await raw.initialize(version, declared);
    await raw.notify('notifications/initialized');
    return new OldClient(raw, result as Json);
  }

  async result(method: string, params: Json = {}): Promise<Json> {
    const { result, error } = await this.raw.ask(method, params);
    assert.ok(result, JSON.stringify(error));
    return result as Json;
  }

  /** Answers questions during the call, and records them. */
  async call(name: string, args: Json = {}): Promise<Json> {
    const stream = await this.raw.call({ name, arguments: args }, `call-${name}`);
    for (;;) {
      const message = await stream.message();
      assert.ok(message, 'the stream ended');
      const { id, method, params, result } = message;
      if (id === `call-${name}`) return result as Json;
      if (typeof method !== 'string' || id === undefined) continue;
      this.asked.push({ method, params: (params ?? {}) as Json });
      await this.raw.post({ jsonrpc: '2.0', id, result: answers[method] });
    }
  }

  async text(name: string, args: Json = {}): Promise<string> {
    const { content } = (await this.call(name, args)) as { content: { text: string }[] };
    return content[0]?.text ?? '';
  }
}

const answers: Record<string, Json> = {
  'roots/list': { roots: [{ uri: 'file:///a', name: 'a', _meta: { x: 1 } }] },
  'sampling/createMessage': {
    role: 'assistant',
    model: 'm',
    content: { type: 'text', text: 'Hello' },
  },
  'elicitation/create': { action: 'accept', content: { answer: 'Ada' } },
};

describe('versions of the protocol', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await startStage()));
  afterEach(endStages);

  for (const version of versions) {
    const [isFirst, isOld, isNewest] = [
      version === '2024-11-05',
      version < '2025-06-18',
      version === '2025-11-25',
    ];

    describe(`a client of ${version}`, () => {
      let client: OldClient;
      beforeEach(async () => {
        await stage.edit({ s: fixture('features', ['--rich']) });
        client = await OldClient.open(stage, 's', version);
      });

      it('A client lists and uses tools, prompts, resources and completions in the form of its version', async () => {
        assert.equal(client.initialized['protocolVersion'], version);
        assert.deepEqual(client.initialized['capabilities'], {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          logging: {},
          ...(!isFirst && { completions: {} }),
        });
        const meta = { _meta: { shade: 'green' } };
        const entry = {
          ...(!isOld && { title: 'Rich', ...meta }),
          ...(isNewest && { icons: [{ src: png }] }),
        };
        const { tools } = (await client.result('tools/list')) as { tools: Json[] };
        assert.deepEqual(
          tools.find(({ name }) => name === 'contents'),
          {
            name: 'contents',
            inputSchema: { type: 'object' },
            ...entry,
            ...(!isFirst && { annotations: { readOnlyHint: true } }),
            ...(!isOld && { outputSchema: { type: 'object' } }),
            ...(isNewest && { execution: { taskSupport: 'forbidden' } }),
          },
        );
        const { prompts } = (await client.result('prompts/list')) as { prompts: Json[] };
        assert.deepEqual(
          prompts.find(({ name }) => name === 'sounds'),
          {
            name: 'sounds',
            ...entry,
            arguments: [{ name: 'which', ...(!isOld && { title: 'Which' }) }],
          },
        );
        const { resources } = (await client.result('resources/list')) as { resources: Json[] };
        assert.deepEqual(
          resources.find(({ name }) => name === 'rich'),
          {
            uri: 'note://rich',
            name: 'rich',
            ...entry,
            annotations: { priority: 1, ...(!isOld && { lastModified: '2025-01-12T15:00:58Z' }) },
          },
        );
        const { contents } = (await client.result('resources/read', { uri: 'note://rich' })) as {
          contents: Json[];
        };
        assert.deepEqual(contents[0]?.['_meta'], isOld ? undefined : { shade: 'green' });
        const completed = await client.result('completion/complete', {
          ref: { type: 'ref/prompt', name: 'greet' },
          argument: { name: 'name', value: 'Al' },
        });
        assert.deepEqual((completed['completion'] as Json)['values'], ['Alan', '(greet)']);
        await client.result('resources/subscribe', { uri: 'note://one' });
        assert.equal(await client.text('subscribed'), '["note://one"]');
      });

      it('A client gets contents of its version, and a description of others', async () => {
        const { content, structuredContent } = (await client.call('contents')) as {
          content: Json[];
        } & Json;
        const got = {
          content: (await client.result('prompts/get', { name: 'sounds' }))['messages'] as Json[],
        };
        const [sound, link] = got.content.map((message) => message['content'] as Json);
        assert.deepEqual(structuredContent, isOld ? undefined : { said: true });
        assert.deepEqual(content[0], {
          type: 'text',
          text: 'said',
          ...(!isOld && { _meta: { shade: 'green' } }),
        });
        const blob = {
          uri: 'mcp-toolsets://content/audio',
          mimeType: 'audio/wav',
          blob: 'UklGRg==',
        };
        const audio = { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' };
        const expected = isFirst
          ? { type: 'resource', resource: blob }
          : { ...audio, ...(!isOld && { _meta: { shade: 'green' } }) };
        assert.deepEqual([content[1], sound], [expected, expected]);
        const asText = { type: 'text', text: 'Resource One: note://one (text/plain)' };
        const asLink = {
          type: 'resource_link',
          uri: 'note://one',
          name: 'One',
          mimeType: 'text/plain',
        };
        const expectedLink = isOld
          ? asText
          : { ...asLink, ...(isNewest && { icons: [{ src: png }] }) };
        assert.deepEqual([content[2], link], [expectedLink, expectedLink]);
      });

      it('A client gets questions of its version, and the server knows these limits', async () => {
        const capabilities = {
          roots: { listChanged: true },
          sampling: isNewest ? { tools: {}, context: {} } : {},
          ...(!isOld && { elicitation: isNewest ? { form: {}, url: {} } : { form: {} } }),
        };
        assert.deepEqual(JSON.parse(await client.text('capabilities')), capabilities);
        assert.equal(await client.text('roots'), '["file:///a"]');
        assert.match(await client.text('sample', { prompt: 'Hi' }), /"text":"Hello"/);
        const elicited = await client.text('elicit', { message: 'Who?' });
        const byUrl = await client.text('elicit_url', { id: 'e1' });
        if (isOld) assert.match(elicited, /"code":-326/);
        else
          assert.deepEqual(JSON.parse(elicited), { action: 'accept', content: { answer: 'Ada' } });
        if (!isNewest) assert.match(byUrl, /"code":-326/);
        const forms = client.asked.filter(({ method }) => method === 'elicitation/create');
        assert.deepEqual(
          forms.map(({ params }) => params['mode']),
          isNewest ? ['form', 'url'] : isOld ? [] : [undefined],
        );
      });

      it('A client gets questions in its form, or the server learns that none are possible', async () => {
        const [sampled, elicited] = JSON.parse(await client.text('ask_much')) as Json[];
        if (isFirst)
          assert.match(String(sampled?.['message']), /speaks a protocol without .*"audio"/);
        else assert.equal(sampled?.['model'], 'm');
        if (isOld) return assert.equal(typeof elicited?.['code'], 'number');
        const { requestedSchema } = client.asked.at(-1)?.params as {
          requestedSchema: { properties: Json };
        };
        const choices = { enum: ['s', 'l'], enumNames: ['Small', 'Large'] };
        const titled = [
          { const: 's', title: 'Small' },
          { const: 'l', title: 'Large' },
        ];
        assert.deepEqual(requestedSchema.properties, {
          name: { type: 'string', ...(isNewest && { default: 'Ada' }) },
          sure: { type: 'boolean', default: true },
          size: isNewest
            ? { type: 'string', oneOf: titled, default: 's' }
            : { type: 'string', ...choices },
        });
      });
    });

    describe(`a server of ${version}`, () => {
      const capabilities = {
        roots: { listChanged: true },
        sampling: {},
        elicitation: { form: {} },
      };

      for (const batches of version === '2025-03-26' ? [false, true] : [false]) {
        it(`A server gives its tools, prompts, resources, completions and questions${batches ? ', in batches' : ''}`, async () => {
          const args = ['--rich', '--protocol', version, ...(batches ? ['--batches'] : [])];
          await stage.edit({ s: fixture('features', args) });
          const session = await SessionClient.open(stage, 's', {
            capabilities,
            elicit: () => ({ action: 'accept', content: { answer: 'Ada' } }),
            sample: () => ({
              role: 'assistant',
              model: 'm',
              content: { type: 'text', text: 'Hello' },
            }),
            roots: () => ['file:///a'],
          });
          const { client } = session;
          assert.match(JSON.stringify(await client.listPrompts()), /greet/);
          assert.match(JSON.stringify(await client.getPrompt({ name: 'greet' })), /"greet \{\}"/);
          assert.match(JSON.stringify(await client.listResources()), /note:\/\/one/);
          assert.match(
            JSON.stringify(await client.readResource({ uri: 'note://one' })),
            /note:\/\/one of \d+/,
          );
          const { completion } = await client.complete({
            ref: { type: 'ref/prompt', name: 'greet' },
            argument: { name: 'name', value: 'Al' },
            context: { arguments: { tone: 'warm' } },
          });
          assert.deepEqual(completion.values, ['Alan', '(greet)']);
          await client.subscribeResource({ uri: 'note://one' });
          await session.call('touch', { uri: 'note://one' });
          assert.deepEqual(await session.next('notifications/resources/updated'), {
            uri: 'note://one',
          });
          assert.equal(await session.text('roots'), '["file:///a"]');
          assert.match(await session.text('sample', { prompt: 'Hi' }), /"text":"Hello"/);
          if (!isOld)
            assert.match(await session.text('elicit', { message: 'Who?' }), /"answer":"Ada"/);
          const received = JSON.parse(await session.text('received')) as {
            method: string;
            params: Json;
          }[];
          const sent = received.find(({ method }) => method === 'completion/complete')?.params;
          assert.deepEqual(sent?.['context'], isOld ? undefined : { arguments: { tone: 'warm' } });
        });
      }

      it('A server receives the version in a header if it knows the header', async () => {
        const server = await stage.http('http', '--protocol', version);
        await stage.edit({ s: { transport: 'streamable_http', url: server.url } });
        const session = await SessionClient.open(stage, 's');
        const headers = JSON.parse(await session.text('headers')) as Json;
        assert.equal(headers['mcp-protocol-version'], isOld ? undefined : version);
      });
    });
  }

  it('A server of 2024-11-05 without completions gives no values and no error', async () => {
    const server = await stage.http('legacy-sse');
    await stage.edit({ s: { transport: 'streamable_http', url: server.url } });
    const { client } = await SessionClient.open(stage, 's');
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'note://{name}' },
      argument: { name: 'name', value: '' },
    });
    assert.deepEqual(completion.values, []);
  });
});
