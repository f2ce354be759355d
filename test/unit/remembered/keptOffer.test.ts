/** What was kept of a server is judged as what a server says: others may have changed the file (P8, S2). */
import assert from 'node:assert/strict';
import { keptText, readKept } from '../../../src/core/remembered/keptOffer.js';
import type { RememberedOffer } from '../../../src/core/reconcile/remembered.js';

const offer: RememberedOffer = {
  at: 1_000,
  listing: { tools: [{ name: 'a', inputSchema: { type: 'object' } }], malformed: [] },
  serverInfo: { name: 's', version: '1', title: 'S' },
  instructions: 'Read this.',
  capabilities: { tools: {} },
  protocolVersion: '2025-11-25',
};
const text = keptText(offer, (said) => said) ?? '';
const changed = (fields: object): string => JSON.stringify({ ...(JSON.parse(text) as object), ...fields });
/** The text of a value that is nested so deep, in the place of `capabilities`. */
const nested = (depth: number): string =>
  changed({ capabilities: { x: 7 } }).replace('{"x":7}', `{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`);

describe('what is kept of an offer', () => {
  it('is read as it was written, in either era', () => {
    assert.deepEqual(readKept(text), offer);
    assert.deepEqual(readKept(changed({ protocolVersion: '2026-07-28' })), { ...offer, protocolVersion: '2026-07-28' });
  });

  for (const [what, wrong] of [
    ['a time that is none', changed({ at: 1e300 })],
    ['a time before all time', changed({ at: -1 })],
    ['a version that nobody speaks', changed({ protocolVersion: '2099-01-01' })],
    ['capabilities that are a list', changed({ capabilities: [] })],
    ['a tool with a name that is none', text.replace('"name":"a"', '"name":{}')],
    ['a schema that is a text', text.replace('{"type":"object"}', '"x"')],
    ['a list that is no list', changed({ listing: { tools: {}, malformed: [] } })],
    ['a value that is deeper than any message may be', nested(300)],
    ['a value that is deeper than the stack', nested(200_000)],
    ['more lists than anybody has use for', changed({ x: 7 }).replace('"x":7', `"x":[${'[],'.repeat(2_000_001)}[]]`)],
    ['JSON that ends before its end', text.slice(0, -1)],
    ['a list in place of everything', `[${text}]`],
  ] as const) {
    it(`is nothing with ${what}`, () => assert.equal(readKept(wrong), undefined));
  }

  it('is cut as what a server says of itself is', () => {
    const long = 'x'.repeat(1_000_000);
    const read = readKept(changed({ serverInfo: { name: long, version: long, title: long }, instructions: long }));
    assert.ok(read && JSON.stringify(read).length < 100_000);
  });

  it('changes no other object by a name in it', () => {
    const poisoned = text.replace('{"tools":{}}', '{"tools":{},"__proto__":{"polluted":true}}');
    assert.ok(readKept(poisoned));
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });
});
