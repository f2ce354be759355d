/** The app of a result beside *Try Tool* and from `@minds` (G8): it works on the instance of the result, and a hostile one gets nowhere. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { calls, enableAgentMode, newChat } from '../../support/editor/agentMode.ts';
import { inWebview, page } from '../../support/editor/bridge.ts';
import { askMinds } from '../../support/editor/minds.ts';
import { invoke, servers, until, untilTools } from '../../support/editor/product.ts';

const enter = ' >> internal:control=enter-frame >> ';
/** The page of the app stands in a frame of its own within its panel, which is the second webview. */
const inApp = (selector: string, at = 1): string =>
  `iframe.webview.ready:visible >> nth=${at}${enter}#active-frame${enter}#app${enter}${selector}`;

async function untilShown(selector: string, pattern: RegExp): Promise<string> {
  return until(
    async () => (await page.texts(selector)).join('\n'),
    (text) => pattern.test(text),
    `${selector} like ${String(pattern)}`,
  );
}

async function tryTool(server: string, tool: string): Promise<void> {
  await vscode.commands.executeCommand('mcpToolsets.tryTool', server, tool);
  await untilShown(inWebview('h1'), new RegExp(`^${tool}$`));
  await page.click(inWebview('button:text-is("Run")'));
  await untilShown(inWebview('.result'), /Its app is shown beside/);
}

describe('the app of a result', () => {
  before(async () => {
    await untilTools(['mcp_counter_my_count', 'mcp_counter_my_show', 'mcp_hostile_bad_show']);
    await enableAgentMode();
  });

  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await until(servers, (all) => all.length <= 3, 'the instances of the panels have ended');
  });

  it('is shown beside Try Tool and calls its own tools on the panel’s instance, by their names', async () => {
    await tryTool('counter', 'my_show');
    const text = await untilShown(inApp('#text'), /^text Counted 0 times/);
    const pid = /by (\d+)/.exec(text)?.[1];
    assert.equal(await untilShown(inApp('#structure'), /^structure \{/), `structure {"count":0,"pid":${pid}}`);
    await page.click(inApp('#bump'));
    assert.equal(await untilShown(inApp('#answer'), /^bump/), `bump {"count":1,"pid":${pid}}`);
    await page.click(inApp('#count'));
    assert.equal(await untilShown(inApp('#answer'), /^count/), `count {"count":2,"pid":${pid}}`);
    await page.click(inApp('#inner'));
    assert.match(await untilShown(inApp('#answer'), /^inner failed/), /no tool "inner"/);
    await page.click(inApp('#link'));
    await page.click(inApp('#bump'));
    assert.equal(await untilShown(inApp('#answer'), /^bump/), `bump {"count":3,"pid":${pid}}`, 'links do nothing');
    assert.match(await invoke('mcp_counter_my_count'), /^Counted 1 times/, 'another instance');
    await page.screenshot('app-panel');
  });

  it('gets nowhere where it is hostile', async () => {
    await tryTool('hostile', 'bad_show');
    const said = JSON.parse(await untilShown(inApp('#said'), /^\{/)) as Record<string, string>;
    await page.screenshot('app-hostile');
    assert.deepEqual(said, {
      origin: 'null',
      parentDocument: 'SecurityError',
      topDocument: 'SecurityError',
      storage: 'SecurityError',
      cookie: 'SecurityError',
      api: 'undefined',
      popup: 'null',
      navigateTop: 'SecurityError',
      navigateParent: 'SecurityError',
      evaluate: 'EvalError',
      fetch: 'TypeError',
      image: 'refused',
      blocked: 'connect-src img-src script-src',
    });
    await page.click(inApp('#leave'));
    const around = `iframe.webview.ready:visible >> nth=1${enter}#active-frame${enter}body`;
    await untilShown(around, /The app has left its page and was closed/);
  });

  it('opens from @minds, on the instance of its conversation', async () => {
    await newChat();
    const { text } = await askMinds(calls({ tool: 'my_show' }));
    const pid = /by (\d+)/.exec(text)?.[1];
    await page.click('.chat-command-button a:has-text("Open the App of my_show")');
    await untilShown(inApp('#text', 0), new RegExp(`^text Counted 0 times by ${pid}`));
    await page.click(inApp('#bump', 0));
    assert.equal(await untilShown(inApp('#answer', 0), /^bump/), `bump {"count":1,"pid":${pid}}`);
    await page.screenshot('app-minds');
  });
});
