/** The offer for a conversation, and the result of a call for a model (D1, V1). */
import assert from 'node:assert/strict';
import path from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { Emitter } from '../../../src/core/base/events.js';
import { silentLog } from '../../support/fakes/silentLog.js';
import { configuredToolsets } from '../../../src/core/catalogue/configuredToolsets.js';
import {
  ConversationTools,
  heldBy,
  type Speaker,
} from '../../../src/core/calling/conversationTools.js';
import type { ToolResult } from '../../../src/core/minds/model.js';
import { completed } from '../../../src/core/tools/override.js';
import { compilePattern } from '../../../src/core/tools/patterns.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { ToolOutcome, ToolsetCall } from '../../../src/core/protocol/request.js';
import type { ServerState } from '../../../src/core/reconcile/status.js';
import { Delivery } from '../../../src/core/results/delivery.js';
import { DiskArtifacts } from '../../../src/core/results/diskArtifacts.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { tool } from '../minds/fakes.js';
import { newFolder, removeFolders } from '../results/folder.js';
import { servedTool, snapshot, status, toolset } from '../vscode/views/statuses.js';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const leasedBy = (conversation: string) => ({
  id: `of ${conversation}`,
  pid: 1,
  startedAt: 0,
  lastCallAt: undefined,
  callsInFlight: 0,
  use: { kind: 'leased', conversation, since: 0 } as const,
});

/** The host at its contract: a status, a catalogue, and one answer to every call. */
function rig(
  servers = snapshot([status('shop'), status('bank')]),
  toolsets = [toolset('shop', 'shop_count')],
) {
  const requests: ToolsetCall[] = [];
  let answer: ToolOutcome = { kind: 'cancelled' };
  const host: Pick<Host, 'snapshot' | 'catalogue' | 'onDidChange' | 'call' | 'completed'> = {
    completed,
    snapshot: servers,
    catalogue: { version: 1, toolsets } as unknown as Host['catalogue'],
    onDidChange: new Emitter<Host['snapshot']>().event,
    call: (request) => {
      requests.push(request);
      return Promise.resolve(answer);
    },
  };
  const artifacts = new DiskArtifacts({
    folder: newFolder(),
    quota: () => 1_000_000,
    clock: new FakeClock(),
    log: silentLog,
  });
  const tools = new ConversationTools(
    host as Host,
    new Delivery({ artifacts, maxResultBytes: () => 1_000 }),
  );
  const run = (outcome: ToolOutcome, speaker?: Speaker): Promise<ToolResult> => {
    answer = outcome;
    const call = { id: 'c1', tool: 'shop_count', input: { what: 'pears' } };
    return tools
      .runner('mine', speaker)
      .run(tool('shop_count'), call, new AbortController().signal, () => {});
  };
  const result = (
    content: readonly unknown[],
    more: Partial<CallToolResult> = {},
  ): ToolOutcome => ({
    kind: 'result',
    result: { content: content as CallToolResult['content'], ...more },
  });
  return { tools, run, result, requests };
}

const textsOf = ({ parts }: ToolResult): string[] =>
  parts.map((part) => (part.kind === 'text' ? part.text : `<${part.mimeType}>`));

describe('tools of a conversation', () => {
  afterEach(removeFolders);

  it('a person who is asked sees what an overridden tool sends, and the call says what they saw (O5)', async () => {
    const plain = servedTool('shop_count');
    const rules = [
      { name: 'shop', fixed: { value: 'north' } },
      { name: 'what', allow: [compilePattern('pears')] },
    ];
    const shop = {
      ...toolset('shop'),
      tools: [{ ...plain, override: { offered: plain.tool, rules } }],
    };
    const { tools, requests } = rig(undefined, [shop]);
    const [offered] = tools.offer('mine', undefined).tools;
    assert.ok(offered?.sends);
    assert.deepEqual(offered.sends({ what: 'pears', shop: 'south' }), {
      what: 'pears',
      shop: 'north',
    });
    assert.equal(
      offered.sends({ what: 'apples' }),
      undefined,
      'it will be refused, so nobody is asked',
    );
    const call = { id: 'c1', tool: 'shop_count', input: { what: 'pears' } };
    await tools
      .runner('mine', undefined)
      .run(offered, call, new AbortController().signal, () => {});
    assert.deepEqual(
      [requests[0]?.arguments, requests[0]?.seen],
      [{ what: 'pears' }, { what: 'pears', shop: 'north' }],
    );
  });

  it('a conversation has the tools of its grants under their published names, and without a member all tools', () => {
    const described = servedTool('shop_count');
    const shop = {
      ...toolset('shop'),
      tools: [
        {
          ...described,
          tool: { ...described.tool, description: 'Counts.', annotations: { readOnlyHint: true } },
        },
      ],
    };
    const { tools } = rig(undefined, [shop, toolset('bank', 'bank_pay')]);
    assert.deepEqual(
      tools.offer('mine', undefined).tools.map(({ name, toolset: of }) => `${of} ${name}`),
      ['shop shop_count', 'bank bank_pay'],
    );
    const alice: Speaker = {
      id: 'alice',
      name: 'Alice',
      purpose: 'counting',
      grants: [{ kind: 'toolset', id: 'shop' }],
    };
    const offer = tools.offer('mine', alice);
    assert.deepEqual(offer.tools, [
      {
        name: 'shop_count',
        original: 'shop_count',
        toolset: 'shop',
        description: 'Counts.',
        inputSchema: { type: 'object' },
        annotations: { readOnlyHint: true },
      },
    ]);
    assert.match(offer.instructions, /You are Alice \(alice\).*counting/);
    assert.deepEqual(tools.offer('mine', { ...alice, grants: [] }).tools, []);
  });

  it('a granted toolset without tools is deferred, with the reason', () => {
    const failed = status('bank', { state: { kind: 'failed' } as never });
    const { tools } = rig(snapshot([status('shop'), failed]));
    const { instructions } = tools.offer('mine', undefined);
    assert.match(
      instructions,
      /The toolset "bank" is yours too, but has no tools now: its server is not able to run\./,
    );
  });

  it('every state of a server has a reason why its toolset is down', () => {
    const kinds: readonly ServerState['kind'][] = [
      ...(['disabled', 'starting', 'running', 'idle', 'failed', 'stopped'] as const),
      ...(['pending', 'signInNeeded', 'invalid', 'reconnecting'] as const),
    ];
    const servers = kinds.map((kind) => status(kind, { state: { kind } as never }));
    const down = configuredToolsets(snapshot(servers), [toolset('running', 'a')]);
    assert.equal(down.find(({ id }) => id === 'running')?.down, undefined);
    const reasons = down.filter(({ id }) => id !== 'running').map((one) => one.down);
    assert.equal(reasons.length, kinds.length, 'the built-in toolset is the last one');
    assert.ok(reasons.every((reason) => typeof reason === 'string' && reason !== ''));
  });

  it('the reminder names the leases of this conversation, and how to release them (L3)', () => {
    const shop = status('shop', { instances: [leasedBy('mine'), leasedBy('other')] });
    const bank = status('bank', { instances: [leasedBy('other')] });
    assert.deepEqual(heldBy('mine', snapshot([shop, bank])), ['shop']);
    const offering = rig(snapshot([shop, bank]), [toolset('mcp_admin', 'mcp_release')]).tools;
    assert.match(
      offering.offer('mine', undefined).instructions,
      /own instance of "shop".*mcp_release\(\{"serverId":"shop"\}\)/,
    );
    const without = rig(snapshot([shop, bank])).tools.offer('mine', undefined).instructions;
    assert.match(without, /own instance of "shop".*when the person releases it/);
    assert.doesNotMatch(
      rig(snapshot([bank])).tools.offer('mine', undefined).instructions,
      /instance of its own/,
    );
  });

  it('a call reaches the host with its conversation, as a call that the chat has asked about', async () => {
    const { run, result, requests } = rig();
    await run(result([{ type: 'text', text: 'three' }]));
    const [{ toolset: of, tool: name, arguments: input, conversation, consented } = {}] = requests;
    assert.deepEqual(
      [of, name, input, conversation, consented],
      ['shop', 'shop_count', { what: 'pears' }, 'mine', 'shop_count'],
    );
  });

  it('a result has its texts for models, images and structure, and names its files', async () => {
    const { run, result, tools } = rig();
    const read = await run(
      result(
        [
          { type: 'text', text: 'for the person', annotations: { audience: ['user'] } },
          { type: 'text', text: 'three' },
          { type: 'image', data: png, mimeType: 'image/png' },
          { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' },
          { type: 'resource_link', uri: 'test://x', name: 'x' },
        ],
        { structuredContent: { count: 3 } },
      ),
    );
    const texts = textsOf(read);
    assert.deepEqual([read.callId, read.tool, read.isError], ['c1', 'shop_count', false]);
    assert.ok(
      texts.includes('three') && texts.includes('<image/png>') && !texts.includes('for the person'),
    );
    assert.match(texts.join('\n'), /Image: image\/png, 70 bytes\. Saved as .+\.png\]/);
    assert.match(texts.join('\n'), /Audio: audio\/wav[^]*Resource link "x": test:\/\/x/);
    assert.ok(texts.some((text) => text.includes('{"count":3}')));
    assert.deepEqual(
      read.files?.map((file) => [path.extname(file.path), file.isImage]),
      [
        ['.png', true],
        ['.wav', false],
      ],
    );
    assert.deepEqual(
      await tools.files('mine'),
      [...(read.files ?? [])].sort((a, b) => (a.path < b.path ? -1 : 1)),
    );
    assert.deepEqual(await tools.files('other'), [], 'of its own conversation alone');
  });

  it('a result that opens an app names it, and beside text the structure is only for the app (G8)', async () => {
    const served = servedTool('shop_count');
    const opens = {
      ...served,
      tool: { ...served.tool, _meta: { ui: { resourceUri: 'ui://shop/page' } } },
    };
    const { run, result, tools } = rig(undefined, [{ ...toolset('shop'), tools: [opens] }]);
    const outcome = result([{ type: 'text', text: 'three' }], { structuredContent: { count: 3 } });
    const read = await run(outcome);
    assert.deepEqual(textsOf(read), ['three']);
    assert.deepEqual(tools.app(read.app ?? ''), {
      toolset: 'shop',
      tool: opens,
      conversation: 'mine',
      arguments: { what: 'pears' },
      result: (outcome as { result: CallToolResult }).result,
    });
    const forUser = { type: 'text', text: 'shown', annotations: { audience: ['user'] } };
    for (const content of [[], [forUser], undefined]) {
      const { parts } = await run(
        result(content as unknown[], { structuredContent: { count: 3 } }),
      );
      assert.match(
        JSON.stringify(parts),
        /count/,
        'where a model sees no text, the structure is for it too (V1b)',
      );
    }
    for (let later = 0; later < 32; later += 1) await run(outcome);
    assert.equal(tools.app(read.app ?? ''), undefined, 'the oldest goes');
    assert.equal((await run({ kind: 'cancelled' })).app, undefined);
    assert.equal((await rig().run(outcome)).app, undefined);
  });

  it('a text over the limit becomes a file', async () => {
    const { run, result } = rig();
    const read = await run(result([{ type: 'text', text: 'x'.repeat(5_000) }]));
    assert.match(textsOf(read).join(), /over the limit.*All of it is in .+\.txt\]/);
    assert.deepEqual(
      read.files?.map((file) => [path.extname(file.path), file.isImage]),
      [['.txt', false]],
    );
  });

  it('the note about a new instance is beside the result, structured or not (L3)', async () => {
    const { run, result } = rig();
    const news = { kind: 'new' } as const;
    const plain = textsOf(
      await run({ ...result([{ type: 'text', text: 'three' }]), news } as ToolOutcome),
    );
    assert.equal(plain[0], 'three');
    assert.match(plain[1] ?? '', /now has its own instance of "shop".*when the person releases it/);
    const admin = rig(undefined, [
      toolset('shop', 'shop_count'),
      toolset('mcp_admin', 'mcp_release'),
    ]);
    const bob: Speaker = {
      id: 'bob',
      name: 'Bob',
      purpose: undefined,
      grants: [{ kind: 'toolset', id: 'shop' }],
    };
    const noteFor = async (speaker?: Speaker): Promise<string> =>
      textsOf(await admin.run({ ...result([]), news } as ToolOutcome, speaker)).join();
    assert.match(await noteFor(), /Call mcp_release\(\{"serverId":"shop"\}\)/);
    assert.doesNotMatch(await noteFor(bob), /mcp_release/, 'who may not call it is not told to');
    const structured = textsOf(
      await run({ ...result([], { structuredContent: { count: 3 } }), news } as ToolOutcome),
    );
    assert.equal(structured[0], '{"count":3}');
    assert.match(structured[1] ?? '', /now has its own instance/);
  });

  it('the model reads errors of tools, of the host and of cancelled calls', async () => {
    const { run, result } = rig();
    const failed = await run(result([{ type: 'text', text: 'no luck' }], { isError: true }));
    assert.deepEqual([failed.isError, textsOf(failed)], [true, ['Error: no luck']]);
    const gone = await run({ kind: 'error', code: -32000, message: 'result unknown' });
    assert.deepEqual([gone.isError, textsOf(gone)], [true, ['Error: result unknown']]);
    const cancelled = await run({ kind: 'cancelled' });
    assert.deepEqual(
      [cancelled.isError, textsOf(cancelled)],
      [true, ['Error: the person cancelled the call.']],
    );
  });
});
