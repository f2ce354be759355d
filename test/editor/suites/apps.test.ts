/**
 * An app in the editor's own chat (G8): under other names, behind a whitelist, on the instance of
 * its conversation. Only the language model is scripted.
 */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ask, calls, enableAgentMode, modelRequests } from '../../support/editor/agentMode.ts';
import { press, untilShown } from '../../support/editor/appFrames.ts';
import { page } from '../../support/editor/bridge.ts';
import { servers, until, untilTools } from '../../support/editor/product.ts';
import { inWebview } from '../../support/editor/webviews.ts';

const pressed = (button: string, answer: RegExp, at = 0): Promise<string> =>
  press(inWebview(`#${button}`, at), inWebview('#answer', at), answer);

const published = ['mcp_counter_my_count', 'mcp_counter_my_notes', 'mcp_counter_my_show'];
const show = calls({ tool: 'mcp_counter_my_show' });
const pidIn = (text: string): string =>
  /(?:by |"pid":)(\d+)/.exec(text)?.[1] ?? `no pid in ${text}`;

describe('apps', () => {
  before(async () => {
    await untilTools(published);
    await enableAgentMode();
  });

  it('An app gets the structured content, and the model gets the text with our note (V1, L3)', async () => {
    const { text } = await ask(show);
    assert.match(text, /Counted 0 times by \d+\.[^]*its own instance of "counter"/);
    const sent = (await modelRequests())
      .at(-1)
      ?.messages.flatMap(({ results }) => results.map((one) => one.text));
    assert.equal(sent?.length, 1);
    assert.doesNotMatch(sent[0] ?? '', /"count"|"pid"|mcp-toolsets\/app/);
    const structure = await untilShown(inWebview('#structure'), /^structure \{/);
    assert.equal(structure, `structure {"count":0,"pid":${pidIn(text)}}`);
    assert.equal(
      await untilShown(inWebview('#text'), /^text /),
      `text Counted 0 times by ${pidIn(text)}.`,
    );
    assert.equal((await servers()).length, 1, 'to read the page starts nothing');
    await page.screenshot('app');
  });

  it('An app calls tools by their original names, on the instance of its conversation', async () => {
    const pid = pidIn(await untilShown(inWebview('#text'), /^text /));
    assert.equal(await pressed('bump', /^bump/), `bump {"count":1,"pid":${pid}}`);
    assert.equal(await pressed('count', /^count/), `count {"count":2,"pid":${pid}}`);
    assert.equal(await pressed('read', /^read/), `read ${pid}`);
    assert.match(await pressed('inner', /^inner/), /failed: Tool not found/);
    assert.match(
      (await ask(calls({ tool: 'mcp_counter_my_count' }))).text,
      new RegExp(`Counted 3 times by ${pid}`),
    );
    const offered = (await modelRequests()).at(-1)?.tools.map(({ name }) => name) ?? [];
    assert.deepEqual(
      offered.filter((name) => name.includes('counter')),
      published,
    );
  });

  it('Apps of two conversations stay separate, and an app reports the release of its instance', async () => {
    const first = pidIn(await untilShown(inWebview('#text'), /^text /));
    await vscode.commands.executeCommand('workbench.action.openChat');
    const second = pidIn((await ask(show)).text);
    assert.notEqual(second, first);
    const pids = await until(
      async () =>
        Promise.all(
          [0, 1, 2, 3].map(async (at) => pidIn((await page.texts(inWebview('#text', at))).join())),
        ),
      (all) => all.includes(first) && all.includes(second),
      'the apps of both conversations',
    );
    // The last app of a conversation is the visible one.
    const [inFirst, inSecond] = [pids.lastIndexOf(first), pids.lastIndexOf(second)];
    assert.equal(await pressed('bump', /^bump/, inSecond), `bump {"count":1,"pid":${second}}`);
    assert.equal(
      await pressed('bump', /^bump \{"count":4/, inFirst),
      `bump {"count":4,"pid":${first}}`,
    );
    assert.equal(await pressed('count', /^count/, inSecond), `count {"count":2,"pid":${second}}`);
    await page.screenshot('side-by-side');
    await ask(calls({ tool: 'mcp_admin_release', input: { serverId: 'counter' } }));
    assert.match(
      await pressed('bump', /^bump failed/, inSecond),
      /no longer has an instance of "counter"/,
    );
    assert.equal(
      await pressed('bump', /^bump \{"count":5/, inFirst),
      `bump {"count":5,"pid":${first}}`,
    );
    assert.equal((await servers()).length, 1);
    await page.screenshot('released');
  });

  it('An app in an older turn reaches its own instance while another conversation calls', async () => {
    const [first] = await servers();
    const inFirst = await until(
      async () => {
        const all = [0, 1, 2, 3].map(async (at) =>
          pidIn((await page.texts(inWebview('#text', at))).join()),
        );
        return (await Promise.all(all)).lastIndexOf(String(first?.pid));
      },
      (at) => at >= 0,
      'the app of the first conversation',
    );
    const round = [{ tool: 'mcp_counter_my_notes' }, { tool: 'mcp_counter_my_notes' }];
    const turn = ask(calls(round, round, round, { tool: 'mcp_counter_my_count' }));
    const answer = await pressed('bump', /^bump \{"count":6/, inFirst);
    assert.equal(answer, `bump {"count":6,"pid":${first?.pid}}`);
    const { text } = await turn;
    assert.match(text, /Counted 1 times by \d+/);
    assert.notEqual(pidIn(text), String(first?.pid));
  });
});
