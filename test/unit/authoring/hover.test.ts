import assert from 'node:assert/strict';
import { formatted } from '../../../src/core/base/inert.js';
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

  for (const [name, marked] of [
    ['a free name', `${head}    env: { ¦T: x }\n`],
    ['a value', head.replace('npx', 'n¦px')],
    ['a comment', `${head}# com¦mand\n`],
    ['an unknown key', `${head}    col¦our: red\n`],
  ] as const) {
    it(`hover is empty for ${name}`, () => assert.equal(at(marked), 'nothing'));
  }
});
