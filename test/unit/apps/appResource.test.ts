/** What is wrong with the page of an app (G8). */
import assert from 'node:assert/strict';
import { appTooLarge } from '../../../src/core/apps/appResource.js';

const uri = 'ui://a/page';
const mimeType = 'text/html;profile=mcp-app';
const page = { uri, mimeType, text: '<p>hi</p>' };

describe('the page of an app (G8)', () => {
  it('may have as many bytes as is said', () => {
    assert.equal(appTooLarge([{ ...page, text: 'x'.repeat(8 << 20) }]), undefined);
    assert.match(appTooLarge([{ ...page, text: 'x'.repeat((8 << 20) + 1) }]) ?? '', /8388609 bytes/);
  });
});
