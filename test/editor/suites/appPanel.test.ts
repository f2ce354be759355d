/**
 * The app of a result beside *Try Tool* and from `@minds` (G8). It works on the instance of the
 * result, and a hostile app has no effect.
 */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { ask, calls, enableAgentMode, newChat } from '../../support/editor/agentMode.ts';
import { press, tryApp, untilShown } from '../../support/editor/appFrames.ts';
import { page } from '../../support/editor/bridge.ts';
import { askMinds } from '../../support/editor/minds.ts';
import {
  entry,
  folder,
  invoke,
  readConfig,
  servers,
  until,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';
import { inPanelApp, inWebview } from '../../support/editor/webviews.ts';

const tools = [
  ...['mcp_counter_my_count', 'mcp_counter_my_show', 'mcp_hostile_bad_show'],
  ...['mcp_held_count', 'mcp_held_give', 'mcp_held_waiting'],
  ...['mcp_chatter_c_count', 'mcp_chatter_c_notes'],
];

describe('the app of a result', () => {
  before(async () => {
    await untilTools(tools);
    await enableAgentMode();
  });

  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await until(servers, (all) => all.length <= 5, 'the instances of the panels have ended');
  });

  it('An app beside Try Tool calls its own tools on the panel’s instance, by their names', async () => {
    await tryApp('counter', 'my_show');
    const text = await untilShown(inPanelApp('#text'), /^text Counted 0 times/);
    const pid = /by (\d+)/.exec(text)?.[1];
    assert.equal(
      await untilShown(inPanelApp('#structure'), /^structure \{/),
      `structure {"count":0,"pid":${pid}}`,
    );
    await page.click(inPanelApp('#bump'));
    assert.equal(await untilShown(inPanelApp('#answer'), /^bump/), `bump {"count":1,"pid":${pid}}`);
    await page.click(inPanelApp('#count'));
    assert.equal(
      await untilShown(inPanelApp('#answer'), /^count/),
      `count {"count":2,"pid":${pid}}`,
    );
    await page.click(inPanelApp('#inner'));
    assert.match(await untilShown(inPanelApp('#answer'), /^inner failed/), /no tool "inner"/);
    await page.click(inPanelApp('#link'));
    await page.click(inPanelApp('#bump'));
    assert.equal(
      await untilShown(inPanelApp('#answer'), /^bump/),
      `bump {"count":3,"pid":${pid}}`,
      'links do nothing',
    );
    assert.match(await invoke('mcp_counter_my_count'), /^Counted 1 times/, 'another instance');
    await page.screenshot('app-panel');
  });

  it('A hostile app has no effect', async () => {
    await tryApp('hostile', 'bad_show');
    const said = JSON.parse(await untilShown(inPanelApp('#said'), /^\{/)) as Record<string, string>;
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
      link: 'refused',
      blocked: 'connect-src img-src script-src',
    });
    await page.click(inPanelApp('#leave'));
    await untilShown(inWebview('body', 1), /The app left its page, so it was closed/);
  });

  it('A replaced app sends nothing, and does not see answers for its successor', async () => {
    const notes = async (): Promise<string[]> =>
      JSON.parse(await invoke('mcp_chatter_c_notes')) as string[];
    await vscode.commands.executeCommand('mcpToolsets.tryTool', 'chatter', 'c_count');
    await untilShown(inWebview('h1'), /^c_count$/);
    const times = 8;
    for (let count = 1; count <= times; count++) {
      await page.click(inWebview('button:text-is("Run")'));
      await until(notes, (said) => said.includes(String(count)), `a word of page ${count}`);
    }
    const said = await notes();
    assert.deepEqual(
      [...said],
      [...said].sort(),
      'each is heard before the next, and none after it',
    );
    assert.equal(new Set(said).size, times);
  });

  describe('apps with a slow page', () => {
    const run = inWebview('button:text-is("Run")');
    const result = inWebview('.result');
    const give = (): Promise<string> => invoke('mcp_held_give');
    const untilWaiting = (count: number): Promise<string> =>
      until(
        () => invoke('mcp_held_waiting'),
        (text) => text === String(count),
        `${count} reads of the page`,
      );

    before(async () => {
      // Each page is read once when its tool is published.
      await untilWaiting(1);
      await give();
    });

    beforeEach(async () => {
      await vscode.commands.executeCommand('mcpToolsets.tryTool', 'held', 'count');
      await untilShown(inWebview('h1'), /^count$/);
      await page.click(run);
      await untilWaiting(1);
    });

    it('An app gives way to the app of a later result, whichever page comes first', async () => {
      await page.click(run);
      await untilWaiting(2);
      assert.doesNotMatch((await page.texts(result)).join(), /app/);
      await give();
      await untilShown(result, /Its app is shown beside/);
      const [, counted = ''] = /Counted (\d+) times/.exec((await page.texts(result)).join()) ?? [];
      const structure = await untilShown(inPanelApp('#structure'), /^structure \{/);
      assert.match(structure, new RegExp(`"count":${counted},`));
      await give();
      await untilWaiting(0);
      // The answer of the server comes after the page.
      await press(
        inPanelApp('#bump'),
        inPanelApp('#answer'),
        new RegExp(`^bump \\{"count":${Number(counted) + 1},`),
      );
      assert.deepEqual(await page.texts(inPanelApp('#structure')), [structure]);
    });

    it('An app is not shown after its tab was closed, and the next one is', async () => {
      await vscode.window.tabGroups.close(vscode.window.tabGroups.all[1]?.tabs ?? []);
      await give();
      await untilShown(result, /its tab was closed/);
      await page.click(run);
      await untilWaiting(1);
      await give();
      await untilShown(inPanelApp('#structure'), /^structure \{/);
    });

    it('An app leaves nothing after Try Tool was closed', async () => {
      await vscode.window.tabGroups.close(vscode.window.tabGroups.all[0]?.tabs ?? []);
      const tabs = (): readonly vscode.Tab[] =>
        vscode.window.tabGroups.all.flatMap((group) => group.tabs);
      await until(tabs, ({ length }) => length === 0, 'no tab');
      await give();
      await untilWaiting(0);
      assert.deepEqual(tabs(), []);
    });
  });

  it('The page of an app has no WebRTC, nor has any frame in it (G8g)', async () => {
    const listener = createSocket('udp4');
    let packets = 0;
    listener.on('message', () => (packets += 1));
    listener.bind(0, '127.0.0.1');
    await once(listener, 'listening');
    const file = join(folder(), 'rtc.html');
    await writeFile(file, webRtcPage(listener.address().port));
    const before = await readConfig();
    await writeConfig(
      `${before}  rtc: ${entry('apps.mjs', ['--page', file], 'tools: { whitelist: [show] }')}\n`,
    );
    try {
      await untilTools([...tools, 'mcp_rtc_show']);
      await tryApp('rtc', 'show');
      const said = await untilShown(inPanelApp('#said'), /^\{/);
      assert.deepEqual(JSON.parse(said), {
        early: 'gone',
        page: 'gone',
        markup: 'works',
        frames: 0,
      });
      assert.equal(packets, 0);
    } finally {
      listener.close();
      await writeConfig(before);
      await untilTools(tools);
    }
  });

  it('An app reaches a program of this machine if its page declares the program, as in the chat', async () => {
    const program = createServer((_, response) => {
      response.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end('reached');
    });
    program.listen(0, '127.0.0.1');
    await once(program, 'listening');
    const { port } = program.address() as AddressInfo;
    const file = join(folder(), 'local.html');
    const addresses = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
    await writeFile(
      file,
      `<p id="reached">not yet</p><p id="blocked">nothing</p><script>
        const refused = [];
        document.addEventListener('securitypolicyviolation', ({ blockedURI }) => {
          refused.push(new URL(blockedURI).origin);
          blocked.textContent = 'blocked ' + refused.join(' ');
        });
        const [declared, other] = ${JSON.stringify(addresses)};
        fetch(declared).then((response) => response.text()).then((text) => (reached.textContent = text));
        fetch(other).catch(() => undefined);
      </script>`,
    );
    const before = await readConfig();
    const ui = JSON.stringify({ csp: { connectDomains: [addresses[0]] } });
    await writeConfig(
      `${before}  local: ${entry('apps.mjs', ['--page', file, '--ui', ui], 'tools: { whitelist: [show] }')}\n`,
    );
    try {
      await untilTools([...tools, 'mcp_local_show']);
      await tryApp('local', 'show');
      assert.equal(await untilShown(inPanelApp('#reached'), /reached/), 'reached');
      assert.equal(await untilShown(inPanelApp('#blocked'), /^blocked/), `blocked ${addresses[1]}`);
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await newChat();
      await ask(calls({ tool: 'mcp_local_show' }));
      // In a remote window the editor first looks up the forwarding of the machine's port.
      assert.equal(await untilShown(inWebview('#blocked'), /^blocked/), `blocked ${addresses[1]}`);
    } finally {
      program.closeAllConnections();
      program.close();
      await writeConfig(before);
      await untilTools(tools);
    }
  });

  it('An app opens from @minds, on the instance of its conversation', async () => {
    await newChat();
    const { text } = await askMinds(calls({ tool: 'my_show' }));
    const pid = /by (\d+)/.exec(text)?.[1];
    await page.click('.chat-command-button a:has-text("Open App of my_show")');
    await untilShown(inPanelApp('#text', 0), new RegExp(`^text Counted 0 times by ${pid}`));
    await page.click(inPanelApp('#bump', 0));
    assert.equal(
      await untilShown(inPanelApp('#answer', 0), /^bump/),
      `bump {"count":1,"pid":${pid}}`,
    );
    await page.screenshot('app-minds');
  });
});

/**
 * A page that asks a STUN server of this machine, also from each kind of frame with a text from the
 * page. It counts each running frame. A frame with a refused address loads no sooner than earlier
 * frames.
 */
function webRtcPage(port: number): string {
  const ask = `try {
    const made = new (self.RTCPeerConnection || self.webkitRTCPeerConnection)({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] });
    made.createDataChannel('x');
    made.createOffer().then((offer) => made.setLocalDescription(offer));
    parent.postMessage({ reached: true }, '*');
  } catch { parent.postMessage({ reached: false }, '*'); }`;
  const inner = `<script>${ask}</script>`;
  const text = JSON.stringify(inner).replaceAll('<', '\\u003c');
  const quoted = JSON.stringify(
    inner.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  ).replaceAll('<', '\\u003c');
  return `<!-- <head> --><script>
    let frames = 0;
    const early = self.RTCPeerConnection ? 'there' : 'gone';
    addEventListener('message', ({ source }) => { if (source !== parent) frames += 1; });
  </script>
  <html><head></head><body><p id="said"></p><div id="place"></div>
  <iframe srcdoc="${inner.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>
  <iframe src="javascript:${ask.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>
  <script>
    const text = ${text}, name = 'src' + 'doc', markup = '<iframe ' + name + '="' + ${quoted} + '"></iframe>';
    String.prototype.includes = String.prototype.toLowerCase = Reflect.apply = () => false;
    const attempts = [
      () => { const frame = document.createElement('iframe'); frame[name] = text; return frame; },
      () => { const frame = document.createElement('iframe'); frame.setAttribute(name, text); return frame; },
      () => {
        const frame = document.createElement('iframe');
        const attribute = document.createAttribute(name);
        frame.setAttributeNode(attribute);
        attribute.value = text;
        return frame;
      },
      () => { place.innerHTML = markup; },
      () => { document.write(markup.slice(0, 11)); document.write(markup.slice(11)); },
      () => document.createRange().createContextualFragment(markup),
      () => new DOMParser().parseFromString(markup, 'text/html').querySelector('iframe'),
      () => {
        const frame = document.createElement('iframe');
        frame.src = URL.createObjectURL(new Blob([text], { type: 'text/html' }));
        return frame;
      },
      () => { const frame = document.createElement('iframe'); frame.src = 'javascript:' + JSON.stringify(text); return frame; },
    ];
    for (const attempt of attempts) try { place.append(attempt() ?? ''); } catch {}
    place.insertAdjacentHTML('beforeend', '<b onclick="this.title = 1">works</b>');
    place.lastChild.click();
    const refused = (left) => {
      if (left === 0) return done();
      const frame = document.createElement('iframe');
      frame.onload = () => refused(left - 1);
      frame.src = 'https://not.declared.example';
      document.body.append(frame);
    };
    const done = () => {
      const page = self.RTCPeerConnection || self.webkitRTCPeerConnection ? 'there' : 'gone';
      const works = place.querySelector('b[title="1"]').textContent;
      said.textContent = JSON.stringify({ early, page, markup: works, frames });
    };
    refused(3);
  </script></body></html>`;
}
