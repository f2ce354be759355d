/**
 * Apps behind a filter, a rename and a lease (G8), with real servers: lists and permitted calls of
 * clients.
 */
import assert from 'node:assert/strict';
import {
  CallToolResultSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { fixture, type Entry } from '../../support/core/configText.js';
import { ModernClient } from '../../support/core/modernClient.js';
import { SessionClient, type SessionOptions } from '../../support/core/sessionClient.js';
import type { StatusSnapshot } from '../../../src/core/reconcile/status.js';
import {
  endStages,
  startStage,
  textOf,
  type Stage,
  type StageOptions,
} from '../../support/core/stage.js';

const uri = 'ui://counter/page';
const appKey = 'mcp-toolsets/app';
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
const showing: SessionOptions = { capabilities: { extensions } };
const editor: SessionOptions = { ...showing, kind: 'editor' };
const renamed = {
  tools: { whitelist: ['show', 'count', 'inner'], transform: [{ prefix: 'my_' }] },
};

describe('apps (G8)', () => {
  let stage: Stage;
  const begin = async (entry: Entry, options: StageOptions = {}): Promise<void> => {
    stage = await startStage({
      ...options,
      expectedClient: { capabilities: { extensions }, roots: () => [] },
    });
    await stage.edit({ a: entry });
  };
  afterEach(endStages);

  const open = (options: SessionOptions): Promise<SessionClient> =>
    SessionClient.open(stage, 'a', options);
  const tools = async ({ client }: SessionClient): Promise<Tool[]> =>
    (await client.listTools()).tools.filter(({ name }) => !name.startsWith('mcp_release'));
  const names = async (session: SessionClient): Promise<string[]> =>
    (await tools(session)).map(({ name }) => name);

  function call(
    { client }: SessionClient,
    name: string,
    more: object = {},
  ): Promise<CallToolResult> {
    return client.request(
      { method: 'tools/call', params: { name, arguments: {}, ...more } },
      CallToolResultSchema,
    );
  }
  const from = (conversation: string): object => ({
    _meta: { 'vscode.conversationId': conversation },
  });
  const byApp = (token: string): object => ({ arguments: { [appKey]: token } });

  /** Opens the app in a conversation of the editor, and returns its token. */
  async function openApp(session: SessionClient, conversation: string): Promise<string> {
    const { _meta: meta } = await call(session, 'my_show', from(conversation));
    return (meta?.[appKey] as { token: string }).token;
  }
  const structure = ({ structuredContent }: CallToolResult): unknown => structuredContent;

  describe('lists of apps', () => {
    it('Clients with app support list original names and the tools for apps only (G8a)', async () => {
      await begin(fixture('apps', [], renamed));
      const [plain, inEditor, elsewhere] = [
        await open({}),
        await open(editor),
        await open(showing),
      ];
      const published = ['my_show', 'my_count', 'my_inner'];
      assert.deepEqual(await names(plain), published);
      for (const session of [inEditor, elsewhere]) {
        const listed = await tools(session);
        assert.deepEqual(await names(session), [...published, 'bump', 'note', 'show', 'count']);
        for (const { name, _meta: meta } of listed.slice(3)) {
          assert.deepEqual(meta, { ui: { visibility: ['app'] }, 'example/kept': true }, name);
        }
        assert.deepEqual(listed[0]?._meta, { ui: { resourceUri: uri }, 'example/kept': true });
      }
      await assert.rejects(call(plain, 'bump'), /no tool "bump"/);
      await assert.rejects(
        call(elsewhere, 'inner'),
        /no tool "inner"/,
        'models alone may call it, by its name',
      );
      assert.equal(textOf(await call(elsewhere, 'my_inner')).split('\n')[0], 'inner');
    });

    it('Views and models do not list the tools for apps', async () => {
      await begin(fixture('apps', [], renamed));
      const { tools: published, excluded, offered } = stage.server('a');
      assert.deepEqual(
        [published.length, excluded.map(({ original }) => original), offered],
        [3, ['notes'], 4],
      );
      assert.match(stage.problem('filtered-tools').message, /keeps out 1 tool of "a": notes/);
      assert.deepEqual(stage.problems(), []);
    });

    it('A tool on a blacklist and a tool of a missing app are not listed', async () => {
      await begin(fixture('apps', [], { tools: { blacklist: ['bump', 'notes'] } }));
      assert.deepEqual(await names(await open(editor)), ['show', 'count', 'inner', 'note']);
      await stage.edit({ a: fixture('apps', [], { tools: { whitelist: ['inner'] } }) });
      assert.deepEqual(await names(await open(editor)), ['inner']);
    });

    it('Other agents list everything unchanged if nothing is filtered', async () => {
      await begin(fixture('apps'));
      const own = (await tools(await open(showing))).map(({ name, _meta: meta }) => [name, meta]);
      const kept = { 'example/kept': true };
      assert.deepEqual(
        own.filter(([name]) => name === 'count' || name === 'show'),
        [
          ['show', { ui: { resourceUri: uri }, ...kept }],
          ['count', { ui: { resourceUri: uri, visibility: ['model', 'app'] }, ...kept }],
        ],
      );
      assert.deepEqual(
        own.map(([name]) => name),
        ['show', 'count', 'inner', 'notes', 'bump', 'note'],
      );
    });
  });

  describe('calls of apps', () => {
    it('A call of an app reaches the conversation that opened it, by original name, with an unchanged result', async () => {
      await begin(fixture('apps', [], renamed));
      const session = await open(editor);
      const [one, two] = [await openApp(session, 'one'), await openApp(session, 'two')];
      assert.notEqual(one, two);
      assert.equal(await openApp(session, 'one'), one);
      for (const count of [1, 2]) {
        const results = [
          await call(session, 'bump', byApp(one)),
          await call(session, 'count', byApp(two)),
        ];
        const pids = results.map((result) => {
          const { pid, ...rest } = structure(result) as { count: number; pid: number };
          assert.deepEqual(rest, { count });
          assert.equal(textOf(result), `Counted ${count} times by ${pid}.`);
          return pid;
        });
        assert.equal(new Set(pids).size, 2);
      }
      assert.match(textOf(await call(session, 'my_count', from('one'))), /^Counted 3 times/);
      assert.equal(stage.instances('a').length, 2);
    });

    it('A call without a token reaches the only conversation with that app (G8c)', async () => {
      await begin(fixture('apps', [], renamed));
      const session = await open(editor);
      await assert.rejects(
        call(session, 'bump'),
        /"a" does not know which conversation opened this app/,
      );
      await openApp(session, 'one');
      assert.match(textOf(await call(session, 'bump')), /^Counted 1 times/);
      await openApp(session, 'two');
      await assert.rejects(call(session, 'bump'), /"a" does not know which conversation/);
      await assert.rejects(
        call(session, 'bump', byApp('guessed')),
        /"a" does not know which conversation/,
      );
      assert.equal(stage.instances('a').length, 2);
    });

    it('A call of an app fails with a reason and starts nothing if its conversation has no instance (G8b)', async () => {
      await begin(fixture('apps', [], renamed));
      const session = await open(editor);
      const [one, two] = [await openApp(session, 'one'), await openApp(session, 'two')];
      await stage.host.release('a', 'one');
      await assert.rejects(call(session, 'bump', byApp(one)), /no longer has an instance of "a"/);
      assert.match(textOf(await call(session, 'bump', byApp(two))), /^Counted 1 times/);
      assert.equal(stage.instances('a').length, 1);
      await openApp(session, 'one');
      assert.match(
        textOf(await call(session, 'bump', byApp(one))),
        /^Counted 1 times/,
        'it holds one again',
      );
    });

    it('A call of an app reaches the shared instance, whichever conversation opened the app', async () => {
      await begin(fixture('apps', [], { ...renamed, 'truely-stateless': true }));
      const session = await open(editor);
      assert.match(
        textOf(await call(session, 'bump', byApp('of an earlier window'))),
        /^Counted 1 times/,
      );
    });

    it('Permissions deny and ask for a tool of an app by either name', async () => {
      const asked: string[] = [];
      await begin(fixture('apps', [], renamed), {
        toolPermissions: {
          settings: () => [{ bump: 'deny', my_count: 'ask', note: 'ask' }],
          ask: ({ tool }) => {
            asked.push(tool);
            return Promise.resolve(tool === 'note' ? 'once' : 'no');
          },
        },
      });
      const session = await open(editor);
      const token = await openApp(session, 'one');
      assert.ok(!(await names(session)).includes('bump'));
      await assert.rejects(call(session, 'bump', byApp(token)), /no tool "bump"/);
      assert.match(
        textOf(await call(session, 'count', byApp(token))),
        /did not allow this call of "my_count"/,
      );
      assert.equal(textOf(await call(session, 'note', byApp(token))), 'noted');
      assert.deepEqual(asked, ['my_count', 'note']);
    });
  });

  describe('pages of apps', () => {
    const read = async (
      { client }: SessionClient,
      address = uri,
    ): Promise<Record<string, unknown>> =>
      (await client.readResource({ uri: address })).contents[0] as Record<string, unknown>;
    const ui = {
      csp: { connectDomains: ['https://api.example'] },
      permissions: { camera: {} },
      prefersBorder: true,
    };
    const args = ['--ui', JSON.stringify(ui)];

    it('A page passes a whitelist and the limits of resources, with its type and `_meta` unchanged (G8e)', async () => {
      const resources = { whitelist: ['x:nothing'], mimeTypes: ['text/plain'], maxBytes: 10 };
      await begin(fixture('apps', args, { ...renamed, resources }));
      const [plain, inEditor] = [await read(await open({})), await read(await open(editor))];
      const { text, ...rest } = plain;
      assert.deepEqual(rest, { uri, mimeType: 'text/html;profile=mcp-app', _meta: { ui } });
      assert.ok(!String(text).includes(appKey));
      const { text: marked, ...same } = inEditor;
      assert.deepEqual(same, rest);
      assert.equal(
        String(marked).replace(/<script>\(\(\) => [^]*?<\/script>/, ''),
        text,
        'one script is added',
      );
      assert.notEqual(marked, text);
    });

    it('A page passes no blacklist, and no whitelist without a published tool (G8e)', async () => {
      await begin(fixture('apps', [], { resources: { blacklist: ['ui://*'] } }));
      await assert.rejects(async () => read(await open(editor)), /no resource "ui:/);
      await stage.edit({
        a: fixture('apps', [], {
          tools: { whitelist: ['inner'] },
          resources: { whitelist: ['file:///*'] },
        }),
      });
      await assert.rejects(async () => read(await open(editor)), /no resource "ui:/);
    });

    it('The size of a page is limited', async () => {
      await begin(fixture('apps', ['--bytes', String(9 << 20)]));
      await assert.rejects(
        async () => read(await open(editor)),
        /was not read\. It has 9\d+ bytes/,
      );
    });

    it('The editor reads a page from any live instance, and an app reads from the instance that opened it', async () => {
      await begin(fixture('apps', [], renamed));
      const session = await open(editor);
      await read(session);
      assert.deepEqual(
        stage.instances('a').map(({ use }) => use.kind),
        ['warm'],
      );
      const tokens = [await openApp(session, 'one'), await openApp(session, 'two')];
      await read(session);
      assert.equal(stage.instances('a').length, 2);
      const by = await Promise.all(
        tokens.map((token) => read(session, `ui://counter/by#${appKey}=${token}`)),
      );
      assert.equal(new Set(by.map(({ text }) => text)).size, 2);
      assert.deepEqual(by[0]?.['uri'], 'ui://counter/by');
    });
  });

  describe('apps of a client of 2026-07-28', () => {
    const meta = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
    const capabilities = { extensions: meta };
    const ui = { csp: { connectDomains: ['https://api.example'] } };
    const page = (client: ModernClient): Promise<unknown> =>
      client
        .request('resources/read', { uri })
        .then(({ result }) => (result?.['contents'] as unknown[] | undefined)?.[0]);
    const listed = async (client: ModernClient): Promise<(readonly [string, unknown])[]> => {
      const { result } = await client.request('tools/list');
      return (result?.['tools'] as Tool[])
        .filter(({ name }) => name !== 'mcp_release_a')
        .map(({ name, _meta }) => [name, _meta?.['ui']] as const);
    };
    const isPage = (read: unknown): void => {
      const { text, ...rest } = read as { text: string };
      assert.deepEqual(rest, { uri, mimeType: 'text/html;profile=mcp-app', _meta: { ui } });
      assert.ok(!text.includes(appKey));
    };

    it('A call of an app goes to the conversation of its address', async () => {
      await begin(fixture('apps', ['--ui', JSON.stringify(ui)], renamed));
      const [one, two] = await Promise.all(
        ['1', '2'].map((digit) =>
          ModernClient.open(stage, 'a', { capabilities, address: digit.repeat(22) }),
        ),
      );
      assert.ok(one && two);
      assert.deepEqual(await listed(one), [
        ['my_show', { resourceUri: uri }],
        ['my_count', { resourceUri: uri, visibility: ['model', 'app'] }],
        ['my_inner', { visibility: ['model'] }],
        ...['bump', 'note', 'show', 'count'].map((name) => [name, { visibility: ['app'] }]),
      ]);
      isPage(await page(one));
      assert.equal(stage.instances('a').length, 1, 'to read the page starts nothing');
      await Promise.all([one.text('my_show'), two.text('my_show')]);
      assert.match(await one.text('bump'), /^Counted 1 times/);
      assert.match(await one.text('count'), /^Counted 2 times/);
      assert.match(await two.text('bump'), /^Counted 1 times/);
      assert.equal(stage.instances('a').length, 2);
    });

    it('fail and say what to do if their client names no conversation', async () => {
      await begin(fixture('apps', ['--ui', JSON.stringify(ui)], renamed));
      const client = await ModernClient.open(stage, 'a', { capabilities });
      for (const name of ['my_show', 'bump', 'count']) {
        const { error } = await client.call(name);
        assert.match(
          error?.message ?? '',
          /does not say which conversation it belongs to.*its own address/,
          name,
        );
      }
    });
  });

  describe('problems of apps', () => {
    for (const [what, args, said] of [
      [
        'is missing',
        ['--missing'],
        /ui:\/\/counter\/page of "a" cannot be shown: the server does not give it \(.*not found/,
      ],
      [
        'has another type',
        ['--type', 'text/html'],
        /its media type is "text\/html", but an app's must be text\/html;profile=mcp-app/,
      ],
      [
        'is too large',
        ['--bytes', String(9 << 20)],
        /it has 9\d+ bytes, but an app may have at most 8388608/,
      ],
    ] as const) {
      it(`A read page that ${what} is a problem that names the app and starts nothing`, async () => {
        await begin(fixture('apps', args));
        const isSaid = ({ problems }: StatusSnapshot): boolean =>
          problems.some(({ code }) => code === 'app-unusable');
        await stage.until(isSaid, 'the problem');
        const { message, severity } = stage.problem('app-unusable');
        assert.match(message, said);
        assert.match(message, /It belongs to "show", "count"\.$/);
        assert.equal(severity, 'warning');
        assert.equal(stage.instances('a').length, 1);
        await stage.edit({ a: fixture('apps', args, { tools: { whitelist: ['inner'] } }) });
        await stage.until((snapshot) => !isSaid(snapshot), 'no problem of what is not published');
      });
    }

    it('A valid page causes no problem', async () => {
      await begin(fixture('apps'));
      const session = await open(editor);
      await session.client.readResource({ uri });
      assert.deepEqual(stage.problems(), []);
    });
  });
});
