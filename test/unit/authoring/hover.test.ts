import assert from 'node:assert/strict';
import { code, formatted } from '../../../src/core/base/inert.js';
import { withoutSecrets } from '../../../src/core/base/secrets.js';
import { read } from '../../support/markdown.js';
import { hover, type HoverDeps } from '../../../src/core/authoring/hover.js';

const around: HoverDeps = {
  tools: (server) => {
    const names = server === 'a' ? ['stock_open', 'browser_click', 'browser_type', 'close'] : [];
    return names.map((original) => ({ original, description: '', arguments: new Map() }));
  },
  toolText: (server, tool) => (server === 'a' ? formatted`about ${tool}` : undefined),
  variables: ['SET'],
  serverState: (server) => (server === 'a' ? formatted`running, 4 tools` : undefined),
};

/** `[text] formatted`, at the place marked by `¦`. */
function at(marked: string): string {
  const text = marked.replace('¦', '');
  const found = hover(text, marked.indexOf('¦'), around);
  return found
    ? `[${text.slice(found.span.start, found.span.end)}] ${read(found.markdown)}`
    : 'nothing';
}

const head = 'version: 1\nservers:\n  a:\n    transport: stdio\n    command: npx\n';

describe('hover (E2)', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['a key', 'versi¦on: 1\n', /^\[version\] \*\*version\*\*\n\nThe version of the format/],
    ['a key with a default', `${head}    ena¦bled: true\n`, /^\[enabled\][^]*Default: `true`\./],
    ['`stateless`', `${head}    state¦less: true\n`, /^\[stateless\][^]*one instance for all conversations[^]*`truely-stateless` mean the same/],
    ['the other spelling of `stateless`', `${head}    truely-state¦less: true\n`, /^\[truely-stateless\][^]*mean the same/],
    ['a key in flow style', `${head}    timeouts: { id¦le: 1m }\n`, /^\[idle\][^]*`15m`/],
    ['a key in an anchor', 'version: 1\nx-b: &b\n  com¦mand: x\nservers:\n  a: { <<: *b }\n', /^\[command\] \*\*command\*\*/],
    ['a server', head.replace('  a:', '  ¦a:'), /^\[a\] running, 4 tools$/],
    ['a pattern', `${head}    tools: { whitelist: ['brow¦ser_*'] }\n`, /^\['browser_\*'\] Matches \*\*2\*\* of the 4 tools of `a`: `browser_click`, `browser_type`\.$/],
    ['a pattern that matches nothing', `${head}    tools:\n      blacklist:\n        - no¦pe\n`, /^\[nope\] Matches \*\*none\*\* of the 4 tools/],
    ['a pattern of a server that has not listed', `${head.replace(' a:', ' b:')}    tools: { whitelist: [¦x] }\n`, /`b` has not listed/],
    ['an overridden tool', `${head}    tools: { override: { clo¦se: { description: x } } }\n`, /^\[close\] about close$/],
    ['an argument of an overridden tool', `${head}    tools: { override: { close: { arguments: { u¦rl: { fixed: 1 } } } } }\n`, /^nothing$/],
    ['a prefix', `${head}    transform:\n      - prefix: 'm¦y_'\n`, /\| before \| after \|\n\|---\|---\|\n\| `stock_open` \| `my_stock_open` \|\n\| `browser_click` \|[^\n]*\n\| `browser_type` \|[^\n]*$/],
    ['a prefix that is replaced, with names that have it first', `${head}    transform: [{ suffix: _v2 }, { prefix: { remo¦ve: browser_, add: b_ } }]\n`, /`browser_click_v2` \| `b_click_v2` \|\n\| `browser_type_v2` \| `b_type_v2` \|\n\| `stock_open_v2` \| `b_stock_open_v2` \|/],
    ['a suffix that makes names invalid', `${head}    transform: [{ su¦ffix: ' x' }]\n`, /not a valid name/],
    ['a step that replaces, with names that have it first', `${head}    transform: [{ re¦place: { browser: b, _t: '.t' } }]\n`, /\n\| `browser_click` \| `b_click` \|\n\| `browser_type` \| `b\.type` \*\(not a valid name\)\* \|\n\| `stock_open` \| `stock_open` \|$/],
    ['a variable that is set', `${head}    env: { T: { env: S¦ET } }\n`, /^\[SET\] `SET` is set/],
    ['a variable that is not', `${head}    env: { T: { env: UN¦SET } }\n`, /`UNSET` is \*\*not set\*\*.*does not start/],
    [
      'a variable that is not, with a default',
      `${head}    env: { T: { env: UN¦SET, default: y } }\n`,
      /not set\*\* in .*, so the default counts\./,
    ],
  ]; // oxfmt-ignore
  for (const [name, marked, expected] of cases) it(name, () => assert.match(at(marked), expected));

  describe('with a layer, says what the other file has (C7)', () => {
    const other = `version: 1\nservers:\n  a:\n    timeouts: { call: 5m }\n    env: { LOG_LEVEL: debug, API_TOKEN: s3cret-Value }\n    args: [--api-key, s3cret-Value]\n`;
    const said = (marked: string): string => {
      const redact = (text: string): string => withoutSecrets(text);
      const found = hover(marked.replace('¦', ''), marked.indexOf('¦'), {
        ...around,
        other: (server) =>
          server === 'a' ? { text: other, says: formatted`${code('x')} has`, redact } : undefined,
      });
      return found ? read(found.markdown) : 'nothing';
    };

    it('at a key of the format, a free name and a server', () => {
      assert.match(said(`${head}    timeouts: { ca¦ll: 1m }\n`), /---\n\n`x` has `'5m'`$/);
      assert.match(said(`${head}    time¦outs: { call: 1m }\n`), /`x` has `\{ call: '5m' \}`$/);
      assert.equal(said(`${head}    env: { LOG_¦LEVEL: info }\n`), '`x` has `debug`');
      assert.match(said(head.replace('a:', 'a¦:')), /`x` has `\{ timeouts: /);
    });

    it('nothing at a key that the other file has not', () => {
      assert.doesNotMatch(said(`${head}    ena¦bled: true\n`), /`x` has/);
      assert.equal(said(`${head}    env: { OTHER¦: x }\n`), 'nothing');
      assert.doesNotMatch(said(head.replace(' a:', ' b¦:')), /`x` has/);
    });

    it('never a secret', () => {
      for (const marked of [
        `${head}    env: { API_T¦OKEN: x }\n`,
        `${head}    e¦nv: { API_TOKEN: x }\n`,
        `${head}    ar¦gs: [x]\n`,
        head.replace('a:', 'a¦:'),
      ]) {
        assert.match(said(marked), /`x` has/);
        assert.doesNotMatch(said(marked), /s3cret/);
      }
    });
  });

  for (const [name, marked] of [
    ['a free name', `${head}    env: { ¦T: x }\n`],
    ['a value', head.replace('npx', 'n¦px')],
    ['a comment', `${head}# com¦mand\n`],
    ['an unknown key', `${head}    col¦our: red\n`],
  ] as const) {
    it(`hover is empty for ${name}`, () => assert.equal(at(marked), 'nothing'));
  }
});
