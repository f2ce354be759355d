/**
 * The page around an app (G8): the app cannot leave its attribute, and the page hears only the app
 * and the panel. The script runs here in a separate context. The real browser is in
 * `editor/suites/appPanel`.
 */
import assert from 'node:assert/strict';
import vm from 'node:vm';
import { framePage } from '../../../src/core/apps/framePage.js';

describe('the page around an app (G8)', () => {
  const hostile = `"><script>parent.x = 1</script><iframe sandbox="allow-same-origin" srcdoc='&quot;'></iframe>&amp;`;
  const ours =
    /^<meta http-equiv="Content-Security-Policy" content="require-trusted-types-for 'script'[^>]*><script>[^]*?<\/script>/;
  const page = framePage({ html: hostile, ui: {} }, { mark: 'this', isOfThisMachine: true });

  it('the page of the app is whole in one attribute', () => {
    const [, held = ''] = /srcdoc="([^"]*)"/.exec(page) ?? [];
    const shown = held.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
    assert.equal(shown.replace(ours, ''), hostile.replace('srcdoc', 'data-no'));
    assert.equal(page.split('<script>').length, 2, 'one script is ours');
  });

  it('our script comes first whatever the page of the app holds, and allows no frame with a text (G8g)', () => {
    for (const [html, left] of [
      ['<!-- <head> --><script>first()</script>', undefined],
      ['<script>first()</script><html><head>', undefined],
      ['<iframe\nSrcDoc\f= x><p>srcdoc</p>', '<iframe\ndata-no\f= x><p>srcdoc</p>'],
    ] as const) {
      const [, held = ''] =
        /srcdoc="([^"]*)"/.exec(
          framePage({ html, ui: {} }, { mark: 'm', isOfThisMachine: false }),
        ) ?? [];
      const shown = held.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
      assert.match(shown, ours);
      assert.equal(shown.replace(ours, ''), left ?? html);
    }
  });

  it('the sandbox has no origin, windows, links or permissions (G8g)', () => {
    assert.match(page, /sandbox="allow-scripts allow-forms" allow="" referrerpolicy="no-referrer"/);
    assert.match(page, /http-equiv="Content-Security-Policy" content="default-src 'none';/);
  });

  it('only messages between the app and the panel pass, until the frame has another page', () => {
    const toPanel: unknown[] = [];
    const toApp: unknown[] = [];
    const contentWindow = { postMessage: (data: unknown) => toApp.push(data) };
    let frame: object | null = { contentWindow, remove: () => (frame = null) };
    const body = { textContent: '' };
    const heard = new Map<string, (event: object) => void>();
    const addEventListener = (type: string, listener: (event: object) => void): void =>
      void heard.set(type, listener);
    vm.runInNewContext(/<script>([^]*?)<\/script>/.exec(page)?.[1] ?? '', {
      acquireVsCodeApi: () => ({ postMessage: (data: unknown) => toPanel.push(data) }),
      addEventListener,
      document: { addEventListener, body, getElementById: () => frame },
      self: { origin: 'https://panel.example' },
    });
    const app = frame;
    const say = (source: object, origin: string, data: unknown): void =>
      heard.get('message')?.({ source, origin, data });
    const sayAll = (): void => {
      say(contentWindow, 'null', 'of the app');
      say({}, 'null', 'of a frame within the app');
      say({}, 'https://panel.example', { page: 'this', message: 'of the panel' });
      say({}, 'https://panel.example', {
        page: 'before',
        message: 'to a page that was here before',
      });
      say({}, 'https://other.example', 'of another window');
    };
    heard.get('load')?.({ target: app });
    sayAll();
    // Values of the other context have other prototypes.
    assert.deepEqual(JSON.parse(JSON.stringify([toPanel, toApp])), [
      [{ page: 'this', message: 'of the app' }],
      ['of the panel'],
    ]);
    heard.get('load')?.({ target: body });
    assert.equal(frame, app);
    heard.get('load')?.({ target: app });
    sayAll();
    assert.deepEqual([frame, toPanel.length, toApp.length], [null, 1, 1]);
    assert.match(body.textContent, /was closed/);
  });
});
