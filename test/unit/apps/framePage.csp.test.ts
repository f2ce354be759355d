/** A page gets its declared sources, and no declaration allows more than an origin (G8). */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { contentSecurityPolicy } from '../../../src/core/apps/framePage.js';

const nothing =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; media-src data:; font-src data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'";

describe('the policy of an app (G8)', () => {
  for (const ui of [
    {},
    { csp: {} },
    { csp: 7 },
    { csp: { connectDomains: 'https://a.example' } },
  ]) {
    it(`the policy is closed without a declaration: ${JSON.stringify(ui)}`, () => {
      assert.deepEqual(contentSecurityPolicy(ui, true), nothing);
    });
  }

  it('the policy opens declared sources', () => {
    const declared = {
      csp: {
        connectDomains: ['https://api.example:8443', 'wss://live.example', 'http://localhost:3000'],
        resourceDomains: ['https://*.cdn.example/'],
        frameDomains: ['https://video.example'],
        baseUriDomains: ['https://base.example'],
      },
    };
    const policy = contentSecurityPolicy(declared, true);
    assert.match(
      policy,
      /connect-src https:\/\/api\.example:8443 wss:\/\/live\.example http:\/\/localhost:3000;/,
    );
    for (const directive of ['script', 'style', 'img', 'media', 'font']) {
      assert.match(policy, new RegExp(`${directive}-src [^;]*https://\\*\\.cdn\\.example/`));
    }
    assert.match(policy, /frame-src https:\/\/video\.example;/);
    assert.match(policy, /base-uri https:\/\/base\.example;/);
  });

  for (const source of [
    'http://localhost',
    'ws://localhost:1',
    'http://127.0.0.1:65535/',
    'http://localhost:*',
  ]) {
    it(`the policy opens this machine by ${source}`, () => {
      const policy = contentSecurityPolicy({ csp: { connectDomains: [source] } }, true);
      assert.ok(policy.includes(`; connect-src ${source};`), policy);
    });
  }

  for (const source of [
    'http://localhost.example',
    'http://127.0.0.2:80',
    'https://a.example:*',
    '*',
    'https:',
    'https://*',
    'data:',
    "'unsafe-eval'",
    'https://a.example; script-src *',
    'https://a.example https://b.example',
    'https://a.example"><script>',
    'http://a.example',
    'https://a.example/path',
    'https://user@a.example',
    'ws://a.example',
    'javascript:alert(1)',
    '',
    7,
  ]) {
    it(`the policy refuses ${JSON.stringify(source)}`, () => {
      const policy = contentSecurityPolicy(
        { csp: { connectDomains: [source], resourceDomains: [source] } },
        true,
      );
      assert.equal(policy, nothing);
    });
  }

  for (const source of [
    'http://localhost:3000',
    'ws://127.0.0.1:8080',
    'https://localhost',
    'https://a.LOCALHOST:8443',
    'https://127.1.2.3/',
  ]) {
    it(`the policy keeps the page of a server of another machine from ${source} (G8g)`, () => {
      const ui = { csp: { connectDomains: [source], frameDomains: ['https://video.example'] } };
      assert.match(
        contentSecurityPolicy(ui, false),
        /connect-src 'none'; frame-src https:\/\/video\.example;/,
      );
      assert.ok(contentSecurityPolicy(ui, true).includes(`connect-src ${source};`));
    });
  }

  it('the policy never has another directive, whatever is declared', () => {
    const names = nothing.split('; ').map((directive) => directive.split(' ', 1)[0]);
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.webUrl(), fc.constant("https://a.example'"))),
        (declared) => {
          const policy = contentSecurityPolicy(
            { csp: { connectDomains: declared, frameDomains: declared } },
            true,
          );
          assert.deepEqual(
            policy.split('; ').map((directive) => directive.split(' ', 1)[0]),
            names,
          );
          assert.doesNotMatch(policy, /["<>,]/);
        },
      ),
    );
  });
});
