/**
 * `@minds` in the real chat, for the person and for the model. Only the language model is scripted
 * (D1).
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import {
  calls,
  enableAgentMode,
  forgetRequests,
  modelRequests,
  newChat,
  stop,
  type ModelRequest,
} from '../../support/editor/agentMode.ts';
import { page } from '../../support/editor/bridge.ts';
import type { PageImage } from '../../support/editor/bridgeProtocol.ts';
import { askMinds, beModel, failNext, holdNext, shown } from '../../support/editor/minds.ts';
import {
  readConfig,
  servers,
  toolIds,
  until,
  untilProblems,
  untilTools,
  writeConfig,
  callPage,
} from '../../support/editor/product.ts';
import { inWebview } from '../../support/editor/webviews.ts';

/** The page follows the answer a moment later. */
const sees = (pattern: RegExp): Promise<string> =>
  until(shown, (words) => pattern.test(words), String(pattern));

const count = calls({ tool: 'counter_count' });
const reminder = /has its own instance of "counter"[^]*mcp_release\(\{"serverId":"counter"\}\)/;

describe('@minds', () => {
  before(async () => {
    await untilTools([
      ...['count', 'pid', 'slow', 'cancelled'].map((name) => `mcp_counter_${name}`),
      ...['echo', 'content', 'chart', 'structured', 'fail'].map((name) => `mcp_shop_my_${name}`),
    ]);
    await enableAgentMode();
  });

  beforeEach(async () => {
    await newChat();
    await forgetRequests();
  });

  async function lastRequest(): Promise<ModelRequest> {
    const last = (await modelRequests()).at(-1);
    assert.ok(last);
    return last;
  }

  const resultsIn = ({ messages }: ModelRequest): string[] =>
    messages.flatMap(({ results }) => results.map(({ text }) => text));

  it('@minds calls tools under their exact published names, in parallel, and shows its calls (D1)', async () => {
    const { text, record } = await askMinds(
      calls([{ tool: 'counter_count' }, { tool: 'my_echo', input: { text: 'hello there' } }], {
        tool: 'my_fail',
        input: { text: 'no luck' },
      }),
    );
    assert.match(text, /RESULT counter_count: 1\b/);
    assert.match(text, /RESULT my_echo: hello there/);
    assert.match(text, /RESULT my_fail: Error: no luck/);
    assert.equal(record?.end, 'answered');
    await sees(/my_fail[^]*no luck/);
    const { tools, messages } = await lastRequest();
    assert.deepEqual(
      tools.map(({ name }) => name),
      [
        ...['counter_count', 'counter_pid', 'counter_slow', 'counter_cancelled'],
        ...['my_echo', 'my_content', 'my_chart', 'my_structured', 'my_fail'],
        ...['mcp_release', 'mcp_status', 'mcp_restart', 'mcp_reload'],
      ],
      'all of the catalogue, without my_large, which is denied',
    );
    assert.match(messages[0]?.text ?? '', /toolset "counter":\nCount slowly\./);
    await page.screenshot('calls');
  });

  it('@minds opens input and output of a call', async () => {
    await askMinds(calls({ tool: 'my_structured' }));
    await page.click('.interactive-response .chat-inline-anchor-widget');
    assert.match(
      await callPage(),
      /^# my\\_structured\n\nstructured of shop · [^\n]+\n\n[^]*## Input\n\n```json\n\{\}[^]*## Output[^]*"celsius": 21\.5/,
    );
    await page.waitFor(inWebview('h1:has-text("my_structured")'));
    await page.screenshot('call-page');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('@minds is one conversation over its turns, with a leased instance and a reminder of it in every turn (L3, G3)', async () => {
    const first = await askMinds(count);
    assert.match(
      first.text,
      /: 1\b[^]*its own instance of "counter"[^]*mcp_release/,
      'told with the result',
    );
    assert.match((await lastRequest()).messages[0]?.text ?? '', reminder);
    const second = await askMinds(count);
    assert.match(second.text, /: 2\b/);
    assert.doesNotMatch(second.text, /now has its own instance/, 'with a result only once');
    assert.equal(second.record?.conversation, first.record?.conversation);
    const [asked] = (await modelRequests()).slice(-2);
    assert.match(
      asked?.messages[0]?.text ?? '',
      reminder,
      'before anything was called in this turn',
    );
    assert.deepEqual(
      asked && resultsIn(asked).length,
      1,
      'the first turn is in the history, with its result',
    );

    await newChat();
    const other = await askMinds(count);
    assert.match(other.text, /: 1\b/);
    assert.notEqual(other.record?.conversation, first.record?.conversation);
    assert.equal(
      (await servers()).filter(({ command }) => command.includes('count,pid')).length >= 2,
      true,
    );
  });

  it('In @minds the agent releases by mcp_release, the person by /release, and the reminder goes with the instance', async () => {
    await askMinds(count);
    const { text } = await askMinds(calls({ tool: 'mcp_release', input: { serverId: 'counter' } }));
    assert.match(text, /has ended/);
    assert.doesNotMatch((await lastRequest()).messages[0]?.text ?? '', reminder);
    assert.match((await askMinds(count)).text, /: 1\b/, 'a fresh one');
    // The link below the answer.
    await page.click('.interactive-session :text("Release counter")');
    await sees(/instance of counter has ended/);
    await askMinds('/release');
    await sees(/has no instance/);
    await page.screenshot('released');
  });

  it('@minds shows images, keeps their files, and gives them to models with vision (V2)', async () => {
    await askMinds(calls({ tool: 'my_content' }));
    const [seen = ''] = resultsIn(await lastRequest());
    assert.match(seen, /\[image\/png, 70 bytes\]/);
    const file = /Image: image\/png, 70 bytes\. Saved as ([^\]]+)\]/.exec(seen)?.[1] ?? '';
    assert.equal((await readFile(file)).toString('latin1', 1, 4), 'PNG');
    await page.waitFor('.interactive-response img');
    await page.screenshot('image');

    await newChat();
    await beModel({ imageInput: false });
    await askMinds(calls({ tool: 'my_content' }));
    await beModel({});
    const [unseen = ''] = resultsIn(await lastRequest());
    assert.match(unseen, /An image \(image\/png\) that this model cannot see/);
    assert.doesNotMatch(unseen, /\[image\/png, 70 bytes\]/);
  });

  it('@minds shows images, and answers show files and link to them (V2)', async () => {
    const images = (): Promise<PageImage[]> => page.images('.interactive-response img');
    const isChart = ({ width, height }: PageImage): boolean => width === 240 && height === 120;
    const { text } = await askMinds(
      `${calls({ tool: 'my_chart' })} SAY {"text":"See [the chart](FILE), here: ![the chart](FILE) Well?"}`,
    );
    assert.match(text, /See \[the chart\]\(\/.+\.png\), here/, 'the model knows it by its path');
    await until(
      images,
      (found) => found.filter(isChart).length === 2,
      'the image of the call, and that of the answer',
    );
    await sees(/my_chart\.png[^]*See\s*the chart\.png\s*, here/);
    await page.screenshot('chart');

    await page.click('.interactive-response .chat-inline-anchor-widget:has-text("the chart.png")');
    await until(
      () => page.images('[class*="carousel"] img'),
      (found) => found.some(isChart),
      'the image in an editor',
    );
    await page.screenshot('chart-open');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');

    await askMinds('/files');
    await sees(/has 1 file[^]*\.png/);
    await until(
      images,
      (found) => found.filter(isChart).length === 3,
      'the image in the list of files',
    );
    await page.screenshot('files');
    await newChat();
    await askMinds('/files');
    await sees(/No files of this conversation are kept/);
  });

  it('A long result in @minds is a file, and an answer can link to it (V3)', async () => {
    const settings = vscode.workspace.getConfiguration('mcpToolsets');
    await settings.update('maxResultBytes', 2_048, vscode.ConfigurationTarget.Global);
    const echo = calls({ tool: 'my_echo', input: { text: 'long '.repeat(1_000) } });
    await askMinds(`${echo} SAY {"text":"It is all [in there](FILE)."}`);
    await settings.update('maxResultBytes', undefined, vscode.ConfigurationTarget.Global);
    await page.click('.interactive-response .chat-inline-anchor-widget:has-text("in there.txt")');
    const document = await until(
      () => vscode.window.activeTextEditor?.document,
      (found) => found?.uri.path.endsWith('/in there.txt') === true,
      'the file in an editor',
    );
    assert.equal(document?.getText().length, 5_000);
    await page.screenshot('long-result');
    await assert.rejects(
      Promise.resolve(vscode.workspace.fs.writeFile(document.uri, new Uint8Array())),
      'it is read, and nothing else',
    );
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('/mcp, /tools and /reload answer without a model', async () => {
    await askMinds('/mcp');
    await sees(/counter[^]*4 tools[^]*shop[^]*5 of 6 tools/);
    await page.screenshot('servers');
    await askMinds('/tools');
    await sees(/has 13 tools[^]*counter_count[^]*my_echo[^]*mcp_release/);
    await page.screenshot('tools');
    await askMinds('/reload');
    await sees(/counter[^]*running/);
    assert.equal((await modelRequests()).length, 0);
  });

  it('@minds stops at a rejection with a problem that names vendor, conversation and tool, and /continue goes on (D4)', async () => {
    await askMinds(count);
    await failNext({
      message: `Request Failed: 400 {"error":{"message":"Invalid schema for function 'my_echo': no"}}`,
    });
    const refused = await askMinds(calls({ tool: 'my_echo', input: { text: 'again' } }));
    assert.equal(refused.record?.end, 'stopped');
    assert.match(
      refused.error ?? '',
      /"scripted" of Scripted refused the request because of the tool my_echo: .*Invalid schema/,
    );
    const [problem] = await untilProblems(['model-rejected shop']);
    assert.ok(problem?.message.includes(refused.record?.conversation ?? '?'));
    assert.match(problem?.message ?? '', /"scripted"[^]*"my_echo"[^]*Invalid schema for function/);
    assert.equal((await modelRequests()).length, 3, 'not sent again by itself');
    await page.screenshot('rejected');

    const { text, record } = await askMinds('/continue');
    assert.match(text, /RESULT my_echo: again/);
    assert.equal(record?.conversation, refused.record?.conversation);
    assert.equal(
      (await lastRequest()).messages.filter(
        ({ text: words }) => words.includes('my_echo') && words.includes('CALL'),
      ).length,
      1,
      'the question is there once',
    );
    await untilProblems([]);
  });

  it('@minds retries after temporary errors: a rate limit, a connection lost during an answer (D4)', async () => {
    await failNext(
      { message: '429 Too Many Requests' },
      { message: 'socket hang up', after: 'The answer i' },
    );
    const asked = askMinds(calls({ tool: 'my_echo', input: { text: 'at last' } }));
    await sees(/429 Too Many Requests\. Attempt 1 of 3/);
    await sees(/socket hang up\. Attempt 2 of 3/);
    const { text, record } = await asked;
    assert.match(text, /RESULT my_echo: at last/);
    assert.equal(record?.end, 'answered');
    assert.equal((await modelRequests()).length, 4);
    await untilProblems([]);
  });

  it('The Problems view lists the known refusals of a provider, and @minds sends the request all the same (D3)', async () => {
    const config = await readConfig();
    await writeConfig(config.replace("prefix: 'my_'", "prefix: '1_'"));
    await until(toolIds, (ids) => ids.includes('mcp_shop_1_echo'), 'names that begin with a digit');
    await beModel({ gemini: true });
    await until(
      () => vscode.lm.selectChatModels({ vendor: 'scripted-gemini' }),
      (models) => models.length === 1,
      'the other vendor',
    );
    const { text } = await askMinds(
      calls({ tool: '1_echo', input: { text: 'sent' } }),
      'scripted-gemini',
    );
    assert.match(text, /RESULT 1_echo: sent/);
    // That server has six tools. `large` is not denied under this name.
    const [problem] = await untilProblems(Array.from({ length: 6 }, () => 'model-may-refuse shop'));
    assert.match(
      problem?.message ?? '',
      /Gemini refuses every request with the tool "1_\w+": its name does not begin[^]*sent anyway/,
    );
    await vscode.commands.executeCommand('workbench.actions.view.problems');
    await page.waitFor(
      '.markers-panel .monaco-list-row:has-text("Gemini refuses every request with the tool")',
    );
    await page.screenshot('may-refuse');
    await vscode.commands.executeCommand('workbench.action.closePanel');
    await beModel({});
    await askMinds('Hello.');
    await untilProblems([]);
    await writeConfig(config);
    await until(toolIds, (ids) => ids.includes('mcp_shop_my_echo'), 'the names as they were');
  });

  it('@minds says what a person can do if the model may not be used', async () => {
    await failNext({ code: 'NoPermissions', message: 'You are not signed in.' });
    const { error, record } = await askMinds(count);
    assert.match(
      error ?? '',
      /Scripted cannot be used: You are not signed in\. Choose another model, or sign in\./,
    );
    assert.equal(record?.end, 'stopped');
    assert.equal((await modelRequests()).length, 1);
    await untilProblems([]);
  });

  it('@minds can be cancelled while the model writes, and the chat goes on as the same conversation', async () => {
    const before = await askMinds(count);
    await holdNext();
    const held = askMinds('Tell me a long story.');
    await until(shown, (words) => words.includes('Hold on.'), 'the first words');
    await stop();
    await held;
    const { text, record } = await askMinds(count);
    assert.match(text, /: 2\b/);
    assert.equal(record?.conversation, before.record?.conversation);
  });

  it('Cancelling @minds cancels a running call at the server', async () => {
    await askMinds(count);
    const slow = askMinds(calls({ tool: 'counter_slow', input: { ms: 60_000, steps: 600 } }));
    await until(shown, (words) => words.includes('counter_slow:'), 'its progress');
    await stop();
    await slow;
    assert.match(
      (await askMinds(calls({ tool: 'counter_cancelled' }))).text,
      /RESULT counter_cancelled: \["slow"\]/,
    );
  });

  it('@minds stops at the limit of steps, and /continue goes on', async () => {
    const settings = vscode.workspace.getConfiguration('mcpToolsets');
    await settings.update('minds.maxSteps', 2, vscode.ConfigurationTarget.Global);
    const echo = (text: string): { tool: string; input: { text: string } } => ({
      tool: 'my_echo',
      input: { text },
    });
    const { record } = await askMinds(calls(echo('one'), echo('two'), echo('three')));
    assert.equal(record?.end, 'stepLimit');
    await sees(/stopped after 2 requests/);
    await page.screenshot('step-limit');
    await page.click('.interactive-response .monaco-button:has-text("Continue")');
    await sees(/RESULT my_echo: one[^]*two[^]*three/);
    await settings.update('minds.maxSteps', undefined, vscode.ConfigurationTarget.Global);
  });

  it('@minds shortens the oldest results if a conversation does not fit the model, and says so', async () => {
    const long = (letter: string): { tool: string; input: { text: string } } => ({
      tool: 'my_echo',
      input: { text: letter.repeat(6_000) },
    });
    await beModel({ maxInputTokens: 14_500 });
    await askMinds(calls(long('a'), long('b'), long('c')));
    await beModel({});
    await sees(/To fit the context of the model: \d older tool results? shortened/);
    const [first = '', , last] = resultsIn(await lastRequest());
    assert.match(first, /characters are left out here/);
    assert.equal(last?.length, 6_000);
  });
});
