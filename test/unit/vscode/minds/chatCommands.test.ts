import { code } from '../../../../src/core/base/inert.js';
import assert from 'node:assert/strict';
import type { Member } from '../../../../src/core/team/team.js';
import type { ShellEngine as Engine } from '../../../../src/vscode/engine/engine.js';
import type { WindowState } from '../../../../src/vscode/engine/engineSlot.js';
import {
  release,
  showMembers,
  showServers,
  showTools,
} from '../../../../src/vscode/minds/chatCommands.js';
import { tool } from '../../minds/fakes.js';
import { problem, snapshot, status } from '../views/statuses.js';
import { FakeStream } from './stream.js';
import { broken, counter, window } from './windows.js';

describe('commands of @minds', () => {
  let stream: FakeStream;

  beforeEach(() => (stream = new FakeStream()));

  it('/mcp shows states, tools, instances of the conversation, and problems with remedies', () => {
    const problems = [
      problem({ server: 'broken', message: 'No `command`.', fix: 'Add one.' }),
      problem({ server: 'counter', severity: 'information', message: 'Kept out.' }),
      problem({ server: 'elsewhere' }),
    ];
    showServers(stream, window(snapshot([counter, broken], { problems })), 'mine');
    assert.equal(
      stream.text,
      '- `counter` – running, 1 of 2 tools, **this conversation has an instance**\n' +
        '- `broken` – entry with errors, 0 tools\n\n' +
        '- `broken`, error: No "command". Add one.\n' +
        '<button Show in Sidebar: mcpToolsets.servers.focus>',
    );
  });

  it('/mcp reports a serving previous definition, and why there are no servers', () => {
    const previous = status('shop', { previous: { since: 0 } as never });
    showServers(stream, window(snapshot([previous])), 'other');
    assert.match(
      stream.text,
      /`shop` – running, has served its previous definition since [^,]+, 0 tools\n/,
    );
    const reasons: readonly (readonly [WindowState['phase'], RegExp])[] = [
      ['untrusted', /not trusted/],
      ['noFolder', /No folder is open/],
      ['noFile', /“MCP Toolsets: Create Config File”/],
      ['serving', /No MCP servers are configured/],
    ];
    for (const [phase, pattern] of reasons) {
      const none = new FakeStream();
      showServers(none, { phase, snapshot: snapshot([]) }, 'mine');
      assert.match(none.text, pattern);
    }
  });

  it('/mcp reports an error of a whole file, with or without running servers (C4)', () => {
    const problems = [problem({ message: 'Not valid YAML.', fix: 'Close it.' })];
    showServers(stream, window(snapshot([status('counter')], { problems })), 'mine');
    assert.match(stream.text, /^- error: Not valid YAML\. Close it\.$/m);
    const none = new FakeStream();
    showServers(none, window(snapshot([], { problems })), 'mine');
    assert.match(
      none.text,
      /^The config file has an error, so its servers are unknown\.[^]*Not valid YAML\. Close it\./,
    );
    const tools = new FakeStream();
    showTools(
      tools,
      { tools: [], instructions: '' },
      window(snapshot([], { problems })),
      code('alice'),
    );
    assert.match(tools.text, /^The config file has an error/);
  });

  it('/tools shows the first line of each description by toolset', () => {
    const tools = [tool('shop_count', { description: 'Counts *all*.\nSlowly.' }), tool('bank_pay')];
    showTools(stream, { tools, instructions: '' }, window(snapshot([])), code('alice'));
    assert.equal(
      stream.text,
      '`alice` has 2 tools.\n\n**shop**\n\n- `shop_count` – Counts *all*.\n\n**bank**\n\n- `bank_pay` – Does bank_pay.\n',
    );
    const long = new FakeStream();
    const wordy = tool('shop_talk', { description: 'word '.repeat(40) });
    showTools(long, { tools: [wordy], instructions: '' }, window(snapshot([])), code('alice'));
    assert.match(long.text, /^- `shop_talk` – (word ){32}…$/m, 'cut between words, and said so');
    const none = new FakeStream();
    showTools(none, { tools: [], instructions: '' }, window(snapshot([counter])), code('alice'));
    assert.equal(none.text, '`alice` has no tools now.');
  });

  it('/release ends one instance or all, and names servers without an instance', async () => {
    const released: string[] = [];
    const host = {
      snapshot: snapshot([counter, status('shop')]),
      release: (id: string, conversation: string) => {
        released.push(`${id} ${conversation}`);
        return Promise.resolve(id === 'counter');
      },
    };
    const engine = { host } as unknown as Engine;
    const said = async (server: string, conversation = 'mine'): Promise<string> => {
      const own = new FakeStream();
      await release(own, engine, conversation, server);
      return own.text.trim();
    };
    assert.match(await said(''), /^The instance of `counter` has ended\./);
    assert.match(await said('`counter`'), /has ended/);
    assert.equal(await said('shop'), 'This conversation has no instance of `shop`.');
    assert.equal(await said('shap`'), 'There is no server `shap`.');
    assert.equal(await said('', 'other'), 'This conversation has no instance.');
    assert.deepEqual(released, ['counter mine', 'counter mine', 'shop mine']);
  });

  it('/as shows the members with their grants, and who answers now', () => {
    const member = (id: string, more: Partial<Member>): Member =>
      ({ id, name: id, grants: [], ...more }) as Member;
    const all = { grant: { kind: 'all' } };
    const without = { grant: { kind: 'except', id: 'shop' } };
    const one = { grant: { kind: 'toolset', id: 'bank' } };
    const members = [
      member('alice', { name: 'Alice', purpose: 'tests', grants: [all, without] as never }),
      member('bob', { grants: [one] as never }),
      member('carol', {}),
    ];
    showMembers(stream, members, 'dave`', 'bob');
    assert.equal(
      stream.text,
      'There is no member `` dave` ``.\n\n`bob` answers in this conversation.\n\n' +
        '- `alice` – Alice, tests: `*`, `!shop`\n- `bob`: `bank`\n- `carol`: no toolsets\n' +
        '\n`/as` with an id chooses a member. `/as nobody` returns to all toolsets.',
    );
    const nobody = new FakeStream();
    showMembers(nobody, [], '', undefined);
    assert.match(nobody.text, /^The team has no members/);
  });
});
