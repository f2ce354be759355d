/**
 * The limits for servers, tools and secrets hold for requests of 2026-07-28 as for all others,
 * however a conversation is identified: by an address, by the name of a thread, or not at all.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { ApprovalLedger } from '../../../src/core/approval/ledger.js';
import { OfferLedger } from '../../../src/core/approval/offerLedger.js';
import type { CallAnswer } from '../../../src/core/calling/permission.js';
import { fixture } from '../../support/core/configText.js';
import { MemoryApprovals } from '../../support/core/memoryApprovals.js';
import { MemoryStorage } from '../../support/core/memoryStorage.js';
import { ModernClient, textIn, type Message } from '../../support/core/modernClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

type Fields = Readonly<Record<string, unknown>>;
type Call = (tool: string, args?: Fields, more?: Fields) => Promise<Message>;

const address = (): string => randomBytes(16).toString('base64url');
const capabilities = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } };
const canary = (name: string): string => `canary-${name}-5ca1ab1e`;

/** The ways in which a conversation is told apart, each as a caller of `s`. */
const conversations: Readonly<Record<string, (stage: Stage) => Promise<Call>>> = {
  'by an address of its own': async (stage) => {
    const client = await ModernClient.open(stage, 's', { address: address(), capabilities });
    return (tool, args, more = {}) => client.call(tool, args, { more });
  },
  'by the thread that its program names': async (stage) => {
    const client = await ModernClient.open(stage, 's', { name: 'codex-mcp-client', capabilities });
    const meta = { threadId: randomUUID() };
    return (tool, args, more = {}) => client.call(tool, args, { more, meta });
  },
  'by nothing, at a shared server': async (stage) => {
    const client = await ModernClient.open(stage, 'shared', { capabilities });
    return (tool, args, more = {}) => client.call(`shared_${tool}`, args, { more });
  },
};

function stateIn({ result }: Message): string {
  assert.equal(result?.['resultType'], 'input_required', JSON.stringify(result));
  return String(result['requestState']);
}

const answered = (state: string): Fields => ({
  requestState: state,
  inputResponses: { question: { action: 'accept', content: { answer: 'me' } } },
});

describe('requests of the modern era are kept in check', function () {
  this.timeout(180_000);
  let stage: Stage;
  afterEach(endStages);

  const servers = (rest: object = {}): Parameters<Stage['edit']>[0] => ({
    s: fixture('modern', [], { ...rest, transform: [{ prefix: 'my_' }] }),
    shared: fixture('modern', [], {
      ...rest,
      'truely-stateless': true,
      transform: [{ prefix: 'shared_my_' }],
    }),
  });

  for (const [how, open] of Object.entries(conversations)) {
    it(`A tool is denied and asked about by either name if a conversation is identified ${how} (S4)`, async () => {
      const asked: string[] = [];
      let answer: CallAnswer = 'no';
      stage = await startStage({
        toolPermissions: {
          settings: () => [
            { echo: 'deny', my_pid: 'ask', shared_my_pid: 'ask', elicit: 'ask', steps: 'ask' },
          ],
          ask: ({ tool }) => {
            asked.push(tool.replace('shared_', ''));
            return Promise.resolve(answer);
          },
        },
      });
      await stage.edit(servers());
      const call = await open(stage);
      for (const name of ['my_echo', 'echo']) {
        const denied = await call(name, { text: 'was called' });
        assert.doesNotMatch(textIn(denied), /^was called/);
        assert.match(JSON.stringify(denied), /no tool|has no/i);
      }
      assert.match(textIn(await call('my_pid')), /the person did not allow this call/);
      assert.match(
        textIn(await call('my_elicit', { message: 'Who?' })),
        /the person did not allow/,
      );
      assert.deepEqual(asked.splice(0), ['my_pid', 'my_elicit']);
      answer = 'once';
      const state = stateIn(await call('my_elicit', { message: 'Who?' }));
      // The state of an allowed call opens no other call.
      for (const [tool, args] of [
        ['my_steps', { message: 'Who?' }],
        ['my_echo', { text: 'was called' }],
        ['my_elicit', { message: 'Another?' }],
      ] as const) {
        assert.match(
          JSON.stringify(await call(tool, args, answered(state))),
          /No call has|no tool|has no/i,
        );
      }
      assert.deepEqual(asked.splice(0), ['my_elicit'], 'and nobody was asked about those');
      const done = await call('my_elicit', { message: 'Who?' }, answered(state));
      assert.match(textIn(done), /"action":"accept"/);
      assert.deepEqual(asked, [], 'a call that goes on is not asked about again');
    });

    it(`A launch without approval offers nothing and runs nothing if a conversation is identified ${how} (S1)`, async () => {
      const approvals = new ApprovalLedger({ store: new MemoryApprovals(), asks: () => true });
      stage = await startStage({ approvals });
      const running = stage.edit(servers());
      await stage.until(
        ({ servers: all }) =>
          all.length > 1 && all.every(({ approval }) => approval.kind === 'pending'),
      );
      const tryAll = async (): Promise<void> => {
        for (const toolset of ['s', 'shared']) {
          const client = await ModernClient.open(stage, toolset, {
            address: address(),
            capabilities,
          });
          await client.request('server/discover');
          const { result } = await client.request('tools/list');
          assert.doesNotMatch(JSON.stringify(result), /my_pid/);
          for (const tool of ['my_pid', 'pid', 'shared_my_pid']) {
            assert.doesNotMatch(textIn(await client.call(tool)), /^\d+$/);
          }
          await client.request('resources/read', { uri: 'note://one' });
          await client.request('completion/complete', {
            ref: { type: 'ref/prompt', name: 'greet' },
            argument: {},
          });
        }
      };
      await tryAll();
      assert.deepEqual(stage.processes(), []);
      const launches = stage.host.snapshot.servers.flatMap(({ approval }) =>
        approval.kind === 'pending' ? [approval.launch] : [],
      );
      await approvals.approve(launches);
      await running;
      await stage.until(() => stage.toolsets().length === 2, 'the tools');
      const call = await open(stage);
      const state = stateIn(await call('my_elicit', { message: 'Who?' }));
      for (const { server, source } of launches) await approvals.revoke({ server, source });
      await stage.until(() => stage.toolsets().length === 0, 'the end of the toolsets');
      const late = await call('my_elicit', { message: 'Who?' }, answered(state));
      assert.doesNotMatch(textIn(late), /"action":"accept"/);
      await stage.until(
        ({ servers: all }) => all.every(({ instances }) => instances.length === 0),
        'the end of all',
      );
      await tryAll();
      assert.deepEqual(stage.instances('s').concat(stage.instances('shared')), []);
    });

    it(`Changes after the approval are held back if a conversation is identified ${how} (S3)`, async () => {
      const offerReview = new OfferLedger({
        storage: new MemoryStorage(),
        holdsBack: () => true,
        onStoreFailure: (error) => assert.fail(String(error)),
      });
      stage = await startStage({ offerReview });
      await stage.edit(servers());
      const call = await open(stage);
      assert.equal(textIn(await call('my_add', { name: 'later' })), 'added');
      await stage.until(
        ({ problems }) => problems.some(({ code }) => code === 'tools-changed'),
        'the mark',
      );
      assert.doesNotMatch(textIn(await call('my_later')), /^later$/);
      offerReview.dispose();
    });

    it(`No secret gets into logs and status if a conversation is identified ${how} (E4)`, async () => {
      stage = await startStage({ trace: true, env: { HOST_SECRET: canary('host') } });
      await stage.edit(
        servers({ env: { LITERAL: canary('literal'), HOST: { env: 'HOST_SECRET' } } }),
      );
      const call = await open(stage);
      for (const secret of [canary('literal'), canary('host')]) {
        assert.equal(
          textIn(await call('my_echo', { text: secret })),
          secret,
          'the agent gets what the tool says',
        );
        await call('my_log', { text: secret });
        const first = stateIn(await call('my_twice'));
        const inputResponses = { name: { action: 'accept', content: { name: secret } } };
        const second = stateIn(await call('my_twice', {}, { requestState: first, inputResponses }));
        const colour = { colour: { action: 'accept', content: { colour: secret } } };
        await call('my_twice', {}, { requestState: second, inputResponses: colour });
        stateIn(await call('my_elicit', { message: `Is ${secret} yours?` }));
      }
      assert.match(stage.logs.text(), /requestState/, 'the traffic is traced');
      for (const [where, text] of [
        ['the logs', stage.logs.text()],
        ['the status', JSON.stringify(stage.host.snapshot)],
      ]) {
        assert.doesNotMatch(text ?? '', /canary-\w+-5ca1ab1e/, where);
      }
    });
  }

  it('A request state that is sent many times at once is valid once (G4b)', async () => {
    stage = await startStage();
    await stage.edit(servers());
    for (const open of Object.values(conversations)) {
      const call = await open(stage);
      const state = stateIn(await call('my_elicit', { message: 'Who?' }));
      const all = await Promise.all(
        Array.from({ length: 20 }, () => call('my_elicit', { message: 'Who?' }, answered(state))),
      );
      const answers = all.filter((message) => textIn(message).includes('"action":"accept"'));
      assert.equal(answers.length, 1);
      for (const { error } of all.filter((message) => !answers.includes(message)))
        assert.match(error?.message ?? '', /No call has this request state/);
    }
  });
});
