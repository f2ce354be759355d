/**
 * The team in a real editor (D2): grants of `@minds` and of the editor's own agents, problems,
 * completion, changes.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import {
  calls,
  enableAgentMode,
  forgetRequests,
  modelRequests,
  newChat,
  type ModelRequest,
} from '../../support/editor/agentMode.ts';
import { page } from '../../support/editor/bridge.ts';
import { askMinds, shown } from '../../support/editor/minds.ts';
import { folder, until, untilTools } from '../../support/editor/product.ts';

const teamFile = (): string => join(folder(), '.minds', 'team.yaml');
const agentFile = (id: string): string => join(folder(), '.github', 'agents', `${id}.agent.md`);

/** The most questions to an agent that the editor may not have found yet. */
const mostAttempts = 60;
const attemptsBeforeSaving = 5;

describe('team', () => {
  let original = '';

  before(async () => {
    original = await readFile(teamFile(), 'utf8');
    await untilTools(['mcp_counter_count', 'mcp_counter_pid', 'mcp_shop_echo', 'mcp_shop_fail']);
    await enableAgentMode();
  });

  beforeEach(async () => {
    await newChat();
    await forgetRequests();
  });

  async function edit(from: string, to: string): Promise<void> {
    const text = await readFile(teamFile(), 'utf8');
    assert.ok(text.includes(from), `${from} in ${text}`);
    await writeFile(teamFile(), text.replace(from, to));
  }

  /** `code text` of each problem of the team file in the Problems view. */
  async function problems(): Promise<string[]> {
    const lines = (await readFile(teamFile(), 'utf8')).split('\n');
    return vscode.languages.getDiagnostics(vscode.Uri.file(teamFile())).map(({ code, range }) => {
      const name = String(typeof code === 'object' ? code.value : code);
      return `${name} ${lines[range.start.line]?.slice(range.start.character, range.end.character) ?? ''}`;
    });
  }

  const untilProblems = (expected: readonly string[]): Promise<string[]> =>
    until(
      problems,
      (found) => JSON.stringify(found) === JSON.stringify(expected),
      JSON.stringify(expected),
    );

  async function offered(): Promise<string[]> {
    return (await modelRequests()).at(-1)?.tools.map(({ name }) => name) ?? [];
  }

  it('/as gives a chat the toolsets of a member from then on', async () => {
    await askMinds('/as');
    await until(shown, (words) => /alice[^]*counter[^]*bob[^]*\*/.test(words), 'who there is');
    await askMinds('/as alice');
    await until(
      shown,
      (words) => /alice answers in this conversation[^]*has 2 tools/.test(words),
      'what she has',
    );
    const { text, record } = await askMinds(calls({ tool: 'counter_count' }));
    assert.match(text, /RESULT counter_count: 1/);
    assert.equal(record?.member, 'alice');
    assert.deepEqual(await offered(), ['counter_count', 'counter_pid']);
    const told = (await modelRequests())[0]?.messages[0]?.text ?? '';
    assert.match(told, /You are Alice \(alice\)[^]*counting[^]*"later" is yours too[^]*disabled/);
    assert.match((await askMinds(calls({ tool: 'shop_echo' }))).text, /NOT OFFERED shop_echo/);
    await page.screenshot('as-alice');

    await askMinds('/as bob');
    await askMinds('Hello.');
    assert.deepEqual(
      (await offered()).filter((name) => !name.startsWith('mcp_')),
      ['shop_echo', 'shop_fail'],
    );
    await askMinds('/as nobody');
    await askMinds('Hello.');
    assert.equal((await offered()).length, 8);
  });

  it('An attachment is part of a question, also behind a command', async () => {
    const note = vscode.Uri.file(join(folder(), 'note.txt'));
    await writeFile(note.fsPath, 'Seven.\n');
    for (const command of ['', '/as bob ', '/continue ']) {
      await forgetRequests();
      await askMinds(`${command}Look at it.`, 'scripted', [note]);
      const question = (await modelRequests()).at(-1)?.messages.at(-1)?.text ?? '';
      assert.match(question, /^Look at it\.[^]*note\.txt\n```\nSeven\.\n/, command);
    }
    await rm(note.fsPath);
  });

  it('Wrong grants are problems at their place, and a configured server that is not up is deferred', async () => {
    await untilProblems(['toolset-deferred later']);
    await edit('[counter, later]', '[countr, later]');
    await untilProblems(['toolset-unknown countr', 'toolset-deferred later']);
    await vscode.window.showTextDocument(vscode.Uri.file(teamFile()));
    await page.screenshot('team-problems');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await edit('[countr, later]', '[counter, later]');
    await untilProblems(['toolset-deferred later']);
  });

  it('A change of grants applies from the next turn on, and a broken file keeps its last valid grants', async () => {
    await askMinds('/as alice');
    await edit('[counter, later]', '[shop]');
    await untilProblems([]);
    await askMinds('Hello.');
    assert.deepEqual(await offered(), ['shop_echo', 'shop_fail']);
    await edit('members:', 'members: [');
    await until(
      problems,
      (found) => found.some((one) => one.startsWith('yaml-syntax')),
      'the syntax error',
    );
    await askMinds('Hello.');
    assert.deepEqual(await offered(), ['shop_echo', 'shop_fail']);
    await writeFile(teamFile(), original);
    await untilProblems(['toolset-deferred later']);
  });

  it('A member who leaves during a chat has no tools, and the chat names the next step', async () => {
    await askMinds('/as alice');
    const before = await askMinds(calls({ tool: 'counter_count' }));
    assert.match(before.text, /RESULT counter_count: 1/);
    await writeFile(teamFile(), original.replace(/ {2}alice:[^]*(?= {2}bob:)/, ''));
    await untilProblems([]);
    await forgetRequests();
    const { text, record } = await askMinds(calls({ tool: 'counter_count' }));
    assert.equal(text, 'OK', 'no tool could be called');
    const asked = await vscode.commands.executeCommand<ModelRequest[]>(
      'scriptedModel.lastRequests',
    );
    assert.deepEqual(asked.at(-1)?.tools, [], 'not those of everybody either');
    await until(
      shown,
      (words) =>
        /alice is no longer in the team and has no tools\. \/as chooses who answers/.test(words),
      'what happened and what to do',
    );
    await page.screenshot('left-the-team');

    const next = await askMinds('/as bob');
    assert.equal(next.record?.conversation, record?.conversation);
    assert.equal(next.record?.member, 'bob');
    assert.match(
      (await askMinds(calls({ tool: 'shop_echo', input: { text: 'hi' } }))).text,
      /RESULT shop_echo: hi/,
    );
    await writeFile(teamFile(), original);
    await untilProblems(['toolset-deferred later']);
  });

  it('Completion offers toolset ids', async () => {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(teamFile()));
    const at = document.positionAt(
      document.getText().indexOf('counter, later') + 'counter, '.length,
    );
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      document.uri,
      at,
    );
    const labels = list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    for (const label of ['counter', 'shop', 'later', '*', '!shop'])
      assert.ok(labels.includes(label), label);
  });

  it('Members are custom agents of the editor without tools beyond their grants', async function () {
    this.timeout(150_000);
    await vscode.commands.executeCommand('mcpToolsets.writeAgents');
    assert.match(
      await readFile(agentFile('alice'), 'utf8'),
      /tools: \['counter\/\*', 'later\/\*'\]/,
    );
    assert.match(
      await readFile(agentFile('bob'), 'utf8'),
      /tools: \['shop\/\*', 'later\/\*', 'mcp_admin\/\*'\]/,
    );
    await page.screenshot('agent-file');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const ask = async (mode: string): Promise<string[]> => {
      await forgetRequests();
      await vscode.commands.executeCommand('workbench.action.chat.open', {
        query: calls({ tool: 'mcp_counter_count' }),
        mode,
        blockOnResponse: true,
        modelSelector: { vendor: 'scripted', id: 'scripted-1' },
      });
      return (await offered()).filter((name) => name.startsWith('mcp_')).sort();
    };
    // The editor finds agents with a delay, and asks another one until then. If a chat is left
    // during the search,
    // 1.139 keeps its empty list until a file of an agent is saved.
    const untilOffered = async (expected: readonly string[]): Promise<void> => {
      await newChat();
      for (
        let attempt = 1;
        JSON.stringify(await ask('alice')) !== JSON.stringify(expected);
        attempt++
      ) {
        assert.ok(
          attempt < mostAttempts,
          `not ${expected.join(', ')} but ${(await offered()).join(', ')}`,
        );
        if (attempt % attemptsBeforeSaving !== 0) continue;
        const file = vscode.Uri.file(agentFile('alice'));
        await vscode.workspace.fs.writeFile(file, await vscode.workspace.fs.readFile(file));
      }
    };
    await untilOffered(['mcp_counter_count', 'mcp_counter_pid']);
    await page.screenshot('agent-alice');
    await edit('[counter, later]', '[shop]');
    await until(
      () => readFile(agentFile('alice'), 'utf8'),
      (text) => text.includes("tools: ['shop/*']"),
      'the file in step with the team',
    );
    await untilOffered(['mcp_shop_echo', 'mcp_shop_fail']);
  });

  it("An unreadable file in place of a member's agent stays unchanged", async () => {
    const large = `# Notes\n${'x'.repeat(1024 * 1024)}`;
    await mkdir(dirname(agentFile('alice')), { recursive: true });
    await writeFile(agentFile('alice'), large);
    await vscode.commands.executeCommand('mcpToolsets.writeAgents');
    assert.ok((await readFile(agentFile('alice'), 'utf8')) === large);
    await vscode.commands.executeCommand('notifications.showList');
    await until(
      () => page.texts('.notifications-center .notification-list-item'),
      (texts) =>
        texts.some((text) =>
          /alice\.agent\.md cannot be read \(it is larger than 1 MiB\)/.test(text),
        ),
      'why',
    );
    await vscode.commands.executeCommand('notifications.clearAll');
  });
});
