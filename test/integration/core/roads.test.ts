/**
 * A rule with arguments that denies (S4e), on each road of a call to a real server.
 * `test/unit/calling/calls.roads.test.ts` lists the roads. `call` and `connect` as processes are in
 * `test/integration/cli/argumentRules.test.ts`.
 */
import assert from 'node:assert/strict';
import { CallToolResultSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { ConversationTools } from '../../../src/core/calling/conversationTools.js';
import { everyToolset } from '../../../src/core/gateway/routes.js';
import { policies, type ClientPolicy } from '../../../src/core/protocol/clientPolicy.js';
import type { ToolsetCall } from '../../../src/core/protocol/request.js';
import { fixture, rawWith } from '../../support/core/configText.js';
import { keepResults } from '../../support/core/keptResults.js';
import { ModernClient } from '../../support/core/modernClient.js';
import { SessionClient, type SessionOptions } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const tasks = 'io.modelcontextprotocol/tasks';
const showsApps = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};
const echo = 'echo(text: denied*)';
const note = 'note(text: denied*)';
const rules = {
  [echo]: 'deny',
  [note]: 'deny',
  'work(asks: true)': 'deny',
  'research(asks: true)': 'deny',
};

describe('a call on each road that a rule with arguments denies (S4e)', function () {
  this.timeout(120_000);
  let stage: Stage;

  before(async () => {
    stage = await startStage({
      trace: true,
      toolPermissions: { settings: () => [rules], ask: () => assert.fail('nobody is asked') },
      expectedClient: { capabilities: showsApps, roots: () => [] },
    });
    await stage.edit({
      plain: rawWith(['echo']),
      shared: rawWith(['echo'], {
        'truely-stateless': true,
        transform: [{ prefix: 'shared_' }],
      }),
      app: fixture('apps'),
      task: fixture('tasks'),
      older: fixture('wants-tasks'),
    });
  });

  afterEach(() => {
    const sent = stage.logs.lines.filter(({ message }) =>
      /"denied text"|"asks":true/.test(message),
    );
    assert.deepEqual(sent, [], 'no server got a denied call');
  });

  after(async () => {
    assert.match(stage.logs.text(), /"allowed"/, 'the logs have what servers get');
    await endStages();
  });

  const open = (toolset: string, options?: SessionOptions): Promise<SessionClient> =>
    SessionClient.open(stage, toolset, options);

  const call = async (
    { client }: SessionClient,
    name: string,
    given: object,
    more: object = {},
  ): Promise<CallToolResult> =>
    await client.request(
      { method: 'tools/call', params: { name, arguments: given, ...more } },
      CallToolResultSchema,
    );

  const isDenied = (answer: unknown, rule: string): void => {
    const text = JSON.stringify(answer).replaceAll('\\"', '"');
    assert.ok(text.includes(`The permission "${rule}" denies this call`), text);
  };

  const ofSession = (kind: 'editor' | 'agent', toolset: string) => async () => {
    const session = await open(toolset, { kind });
    assert.match(JSON.stringify(await call(session, 'echo', { text: 'allowed' })), /allowed/);
    return await call(session, 'echo', { text: 'denied text' });
  };

  const ofModern =
    (toolset: string, address?: string, tool = 'echo') =>
    async () => {
      const client = await ModernClient.open(
        stage,
        toolset,
        address === undefined ? {} : { address },
      );
      assert.match(JSON.stringify(await client.call(tool, { text: 'allowed' })), /allowed/);
      return await client.call(tool, { text: 'denied text' });
    };

  const ofHost =
    (toolset: string, tool: string, policy: ClientPolicy, more: Partial<ToolsetCall> = {}) =>
    async () =>
      await stage.host.call({
        toolset,
        tool,
        policy,
        arguments: { text: 'denied text' },
        conversation: 'c',
        signal: new AbortController().signal,
        ...more,
      });

  const ofMinds = async (): Promise<unknown> => {
    const minds = new ConversationTools(stage.host, keepResults(stage).delivery);
    const tool = minds.offer('m', undefined).tools.find(({ name }) => name === 'echo');
    assert.ok(tool);
    const input = { text: 'denied text' };
    const signal = new AbortController().signal;
    return await minds
      .runner('m', undefined)
      .run(tool, { id: '1', tool: 'echo', input }, signal, () => {});
  };

  const roads: Readonly<Record<string, () => Promise<unknown>>> = {
    'the editor': ofSession('editor', 'plain'),
    'another agent': ofSession('agent', 'plain'),
    'an agent at the endpoint of all toolsets': ofSession('agent', everyToolset),
    'an agent of 2026-07-28 without a conversation': ofModern('shared', undefined, 'shared_echo'),
    'an agent of 2026-07-28 with a conversation': ofModern('plain', 'a'.repeat(22)),
    'an agent of 2026-07-28 at the endpoint of all toolsets': ofModern(
      everyToolset,
      'c'.repeat(22),
    ),
    '`call` of the command line': ofHost('plain', 'echo', policies.command),
    '*Try Tool*, although *Run* is a consent': ofHost('plain', 'echo', policies.tryTool, {
      consented: 'echo',
    }),
    '`@minds`, although the chat gave a consent': ofMinds,
  };

  for (const [road, take] of Object.entries(roads)) {
    it(`A rule with arguments denies a call of ${road}`, async () => isDenied(await take(), echo));
  }

  it('A rule with arguments denies a call of an app that the editor shows', async () => {
    const session = await open('app', { kind: 'editor', capabilities: showsApps });
    const conversation = { _meta: { 'vscode.conversationId': 'one' } };
    const { _meta: meta } = await call(session, 'show', {}, conversation);
    const { token } = meta?.['mcp-toolsets/app'] as { token: string };
    const byApp = (text: string) => call(session, 'note', { text, 'mcp-toolsets/app': token });
    assert.match(JSON.stringify(await byApp('allowed')), /noted/);
    isDenied(await byApp('denied text'), note);
    const notes = await call(session, 'notes', {}, conversation);
    assert.match(JSON.stringify(notes), /\[\\"allowed\\"\]/, 'the server has the allowed one only');
  });

  it('A rule with arguments denies a call of an app that the agent shows', async () => {
    const session = await open('app', { capabilities: showsApps });
    isDenied(await call(session, 'note', { text: 'denied text' }), note);
  });

  it('A rule with arguments denies a call of an app in *Try Tool* or `@minds`', async () => {
    const own = { fromApp: true, instance: 'held' } as const;
    isDenied(await ofHost('app', 'note', policies.app, own)(), note);
  });

  it('A rule with arguments denies a call that would become a task', async () => {
    const client = await ModernClient.open(stage, 'task', {
      capabilities: { elicitation: {}, extensions: { [tasks]: {} } },
      address: 'b'.repeat(22),
    });
    assert.equal((await client.call('work')).result?.['resultType'], 'task');
    isDenied(await client.call('work', { asks: true }), 'work(asks: true)');
  });

  it('A rule with arguments denies a call that the host makes as a task of 2025-11-25', async () => {
    const session = await open('older');
    assert.match(JSON.stringify(await call(session, 'research', { asks: false })), /nobody/);
    isDenied(await call(session, 'research', { asks: true }), 'research(asks: true)');
    assert.match(JSON.stringify(await call(session, 'states', {})), /\[\\"completed\\"\]/);
  });
});
