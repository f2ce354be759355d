/**
 * Data to and from an app through the editor (G8). The script of the page runs here in a separate
 * context, with a window whose parent takes another function as the editor's does. The real editor
 * runs it in `editor/suites/apps`.
 */
import assert from 'node:assert/strict';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import vm from 'node:vm';
import {
  withAppPart,
  withHeadScript,
  withoutToken,
  withScript,
} from '../../../src/core/apps/editorApps.js';

const text = (value: string) => ({ type: 'text' as const, text: value });

interface Message {
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

/** A page after its script has run. */
class Page {
  readonly sent: unknown[] = [];
  private readonly parent = { postMessage: (message: unknown) => void this.sent.push(message) };
  private listener: (event: { data: unknown }) => void = () => assert.fail('nothing listens');

  constructor(html: string) {
    const script = /<script>([^]*?)<\/script>/.exec(html)?.[1] ?? assert.fail('there is no script');
    const addEventListener = (_: string, listener: (event: { data: unknown }) => void): void => {
      this.listener = listener;
    };
    vm.runInNewContext(script, { window: { parent: this.parent, addEventListener } });
  }

  /** Returns the messages for listeners of the app. */
  receive<Data>(data: Data): Data {
    this.listener({ data });
    return data;
  }

  post(message: Message): unknown {
    this.parent.postMessage(message);
    return JSON.parse(JSON.stringify(this.sent.at(-1)));
  }
}

const pageOf = (html: string): string => {
  const { contents } = withScript({ contents: [{ uri: 'ui://a', text: html }] }) as {
    contents: { text: string }[];
  };
  return contents[0]?.text ?? '';
};
const opened = (result: CallToolResult): Message => ({
  method: 'ui/notifications/tool-result',
  params: structuredClone(result) as Record<string, unknown>,
});

describe('an app in the editor (G8)', () => {
  const given: CallToolResult = {
    content: [text('a')],
    structuredContent: { count: 1 },
    _meta: { own: true },
  };

  it('an app sees the server’s own result, although the model reads another', () => {
    const page = new Page(pageOf(''));
    for (const forModel of [
      { content: given.content, _meta: given._meta },
      { content: [text('Error: a')], _meta: given._meta },
    ]) {
      const sent = withAppPart(forModel, given, 'T');
      assert.equal(sent.structuredContent, undefined);
      const noted = { ...sent, content: [...sent.content, text('a note')] };
      assert.deepEqual(page.receive(opened(noted)).params, given);
    }
    const plain = { content: [text('b')] };
    assert.deepEqual(page.receive(opened(withAppPart(plain, plain, 'T'))).params, plain);
    const other = { method: 'ui/notifications/tool-input', params: { arguments: { _meta: {} } } };
    assert.deepEqual(page.receive(structuredClone(other)), other);
    assert.equal(page.receive('no object'), 'no object');
    assert.deepEqual(page.receive(opened(plain)).params, plain);
  });

  it('an app sends its token with its requests, and the server does not see it', () => {
    const page = new Page(pageOf(''));
    const call = { method: 'tools/call', params: { name: 'bump', arguments: { by: 2 } } };
    const read = { method: 'resources/read', params: { uri: 'ui://a#b' } };
    const asked = (message: Message) =>
      withoutToken((page.post(message) as { params: Record<string, unknown> }).params);
    assert.deepEqual(asked(call), { asked: call.params, token: '' }, 'before it was told');
    page.receive(opened(withAppPart({ content: given.content }, given, 'T')));
    assert.deepEqual(asked(call), { asked: call.params, token: 'T' });
    assert.deepEqual(asked(read), { asked: read.params, token: 'T' });
    assert.deepEqual(asked({ method: 'tools/call', params: { name: 'bump' } }), {
      asked: { name: 'bump', arguments: {} },
      token: 'T',
    });
    const size = { method: 'ui/notifications/size-changed', params: { height: 7 } };
    assert.deepEqual(page.post(size), size);
    assert.deepEqual(page.post({ method: 'ping' }), { method: 'ping' });
  });

  it('other messages of an app get no token', () => {
    for (const params of [
      { name: 'a' },
      { name: 'a', arguments: { b: 1 } },
      { uri: 'ui://a#b' },
      { arguments: [] },
    ]) {
      assert.deepEqual(withoutToken(params), { asked: params });
    }
  });

  for (const [what, html, begins] of [
    [
      'in the head',
      '<!doctype html><html><head lang="x"><meta>',
      /^<!doctype html><html><head lang="x"><script>/,
    ],
    [
      'after <html>',
      '<!doctype html><html lang="en"><p>',
      /^<!doctype html><html lang="en"><script>/,
    ],
    ['at the beginning', '<p>hi</p>', /^<script>[^]*<\/script><p>hi<\/p>$/],
  ] as const) {
    it(`a page has the script ${what}`, () => assert.match(pageOf(html), begins));
  }

  it('the script keeps type, `_meta` and content other than pages', () => {
    const rest = {
      uri: 'ui://a',
      mimeType: 'text/html;profile=mcp-app',
      _meta: { ui: { csp: {} } },
    };
    const blob = Buffer.from('<p>').toString('base64');
    const read = withScript({ contents: [{ ...rest, blob }, { ...rest }, 7], _meta: { x: 1 } }) as {
      contents: { blob: string }[];
    };
    const [{ blob: changed, ...kept } = { blob: '' }, ...others] = read.contents;
    assert.match(Buffer.from(changed, 'base64').toString(), /^<script>[^]*<p>$/);
    assert.deepEqual(kept, rest);
    assert.deepEqual(others, [rest, 7]);
    assert.deepEqual(withScript({ contents: 'none' }), { contents: 'none' });
  });
});

describe('a script at the head of a page (G8)', () => {
  const script = '<script>run()</script>';

  for (const [before, after] of [
    ['<!doctype html><html><HEAD lang="x">', '<meta>'],
    ['<!doctype html><html\nlang="en">', '<p>'],
    ['<!DOCTYPE html>', '<p>'],
    ['', '<p>hi</p>'],
    ['', '<head'],
    ['<html>', '<p><head'],
  ] as const) {
    it(`the script comes between ${JSON.stringify(before)} and ${JSON.stringify(after)}`, () => {
      assert.equal(withHeadScript(before + after, 'run()'), before + script + after);
    });
  }

  it('a large page without closed tags takes no longer', () => {
    const page = '<head<html<!doctype'.repeat((8 << 20) / 19);
    assert.equal(withHeadScript(page, 'run()'), script + page);
  });
});
