/** Faults of the page of an app (G8). */
import assert from 'node:assert/strict';
import { appFault, appTooLarge, readAppPage } from '../../../src/core/apps/appResource.js';

const uri = 'ui://a/page';
const mimeType = 'text/html;profile=mcp-app';
const page = { uri, mimeType, text: '<p>hi</p>' };

describe('the page of an app (G8)', () => {
  for (const [what, address, contents, fault] of [
    ['is in order', uri, [page], undefined],
    [
      'is in order with blanks and capitals in its type',
      uri,
      [{ ...page, mimeType: 'Text/HTML; profile=mcp-app' }],
      undefined,
    ],
    ['is in order as data', uri, [{ uri, mimeType, blob: 'PHA+' }], undefined],
    ['has another address', 'https://a/page', [page], /does not begin with ui:/],
    ['is not there', uri, [], /no such resource/],
    ['is no list', uri, 'text', /no such resource/],
    ['is plain HTML', uri, [{ ...page, mimeType: 'text/html' }], /"text\/html"/],
    ['has no type', uri, [{ ...page, mimeType: undefined }], /not given/],
    ['has no content', uri, [{ uri, mimeType }], /no content/],
    ['is too large', uri, [{ ...page, text: 'x'.repeat((8 << 20) + 1) }], /8388609 bytes/],
  ] as const) {
    it(what, () => {
      if (fault === undefined) assert.equal(appFault(address, contents), undefined);
      else assert.match(appFault(address, contents) ?? '', fault);
    });
  }

  it('a page may have as many bytes as the limit', () => {
    assert.equal(appTooLarge([{ ...page, text: 'x'.repeat(8 << 20) }]), undefined);
  });

  it('a page is read as text or data, with its declarations', () => {
    const ui = { csp: { connectDomains: ['https://a.example'] } };
    assert.deepEqual(readAppPage(uri, [{ ...page, _meta: { ui } }]), { html: '<p>hi</p>', ui });
    assert.deepEqual(readAppPage(uri, [{ uri, mimeType, blob: 'PHA+', _meta: 7 }]), {
      html: '<p>',
      ui: {},
    });
    assert.ok('wrong' in readAppPage(uri, []));
  });
});
