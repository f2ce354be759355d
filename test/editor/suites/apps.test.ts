/**
 * An app in the editor's own chat (G8): under other names, behind a whitelist, on the instance of the conversation that
 * opened it. Only the language model is scripted.
 */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ask, calls, enableAgentMode, modelRequests } from '../../support/editor/agentMode.ts';
import { page } from '../../support/editor/bridge.ts';
import { servers, until, untilTools } from '../../support/editor/product.ts';

const enter = ' >> internal:control=enter-frame >> ';
/** What is inside the page of an app, by its place among those that the window shows. */
const inApp = (selector: string, at = 0): string =>
  `iframe.webview.ready:visible >> nth=${at}${enter}#active-frame${enter}${selector}`;

async function untilShown(selector: string, pattern: RegExp, at = 0): Promise<string> {
  return until(
    async () => (await page.texts(inApp(selector, at))).join('\n'),
    (text) => pattern.test(text),
    `${selector} like ${String(pattern)}`,
  );
}

async function press(button: string, answer: RegExp, at = 0): Promise<string> {
  await page.click(inApp(`#${button}`, at));
  return untilShown('#answer', answer, at);
}

const show = calls({ tool: 'mcp_counter_my_show' });
const pidIn = (text: string): string => /(?:by |"pid":)(\d+)/.exec(text)?.[1] ?? `no pid in ${text}`;

describe('apps', () => {
  before(async () => {
    await untilTools(['mcp_counter_my_count', 'mcp_counter_my_show']);
    await enableAgentMode();
  });

  it('gives the app the structure, and the model the text with our note (V1, L3)', async () => {
    const { text } = await ask(show);
    assert.match(text, /Counted 0 times by \d+\.[^]*instance of "counter" of its own/);
    const sent = (await modelRequests()).at(-1)?.messages.flatMap(({ results }) => results.map((one) => one.text));
    assert.equal(sent?.length, 1);
    assert.doesNotMatch(sent[0] ?? '', /"count"|"pid"|mcp-toolsets\/app/);
    const structure = await untilShown('#structure', /^structure \{/);
    assert.equal(structure, `structure {"count":0,"pid":${pidIn(text)}}`);
    assert.equal(await untilShown('#text', /^text /), `text Counted 0 times by ${pidIn(text)}.`);
    assert.equal((await servers()).length, 1, 'to read the page starts nothing');
    await page.screenshot('app');
  });

  it('lets the app call tools by their original names, on the instance of its conversation', async () => {
    const pid = pidIn(await untilShown('#text', /^text /));
    assert.equal(await press('bump', /^bump/), `bump {"count":1,"pid":${pid}}`);
    assert.equal(await press('count', /^count/), `count {"count":2,"pid":${pid}}`);
    assert.equal(await press('read', /^read/), `read ${pid}`);
    assert.match(await press('inner', /^inner/), /failed: Tool not found/);
    assert.match((await ask(calls({ tool: 'mcp_counter_my_count' }))).text, new RegExp(`Counted 3 times by ${pid}`));
    const offered = (await modelRequests()).at(-1)?.tools.map(({ name }) => name) ?? [];
    assert.deepEqual(
      offered.filter((name) => name.includes('counter')),
      ['mcp_counter_my_count', 'mcp_counter_my_show'],
    );
  });

  it('keeps two conversations side by side apart, and says so where one has given its instance back', async () => {
    const first = pidIn(await untilShown('#text', /^text /));
    await vscode.commands.executeCommand('workbench.action.openChat');
    const second = pidIn((await ask(show)).text);
    assert.notEqual(second, first);
    const pids = await until(
      async () => Promise.all([0, 1, 2, 3].map(async (at) => pidIn((await page.texts(inApp('#text', at))).join()))),
      (all) => all.includes(first) && all.includes(second),
      'the apps of both conversations',
    );
    // The last of a conversation is the one in sight.
    const [inFirst, inSecond] = [pids.lastIndexOf(first), pids.lastIndexOf(second)];
    assert.equal(await press('bump', /^bump/, inSecond), `bump {"count":1,"pid":${second}}`);
    assert.equal(await press('bump', /^bump \{"count":4/, inFirst), `bump {"count":4,"pid":${first}}`);
    assert.equal(await press('count', /^count/, inSecond), `count {"count":2,"pid":${second}}`);
    await page.screenshot('side-by-side');
    await ask(calls({ tool: 'mcp_admin_release', input: { serverId: 'counter' } }));
    assert.match(await press('bump', /^bump failed/, inSecond), /holds no instance of "counter" any more/);
    assert.equal(await press('bump', /^bump \{"count":5/, inFirst), `bump {"count":5,"pid":${first}}`);
    assert.equal((await servers()).length, 1);
    await page.screenshot('released');
  });
});
