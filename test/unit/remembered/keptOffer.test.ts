/**
 * A kept list is checked like a server's own, because another program may have changed the file
 * (P8).
 */
import assert from 'node:assert/strict';
import { keptText, readKept } from '../../../src/core/remembered/keptOffer.js';
import type { RememberedOffer } from '../../../src/core/reconcile/remembered.js';

const offer: RememberedOffer = {
  at: 1_000,
  declared: '{}',
  listing: { tools: [{ name: 'a', inputSchema: { type: 'object' } }], malformed: [] },
  serverInfo: { name: 's', version: '1', title: 'S' },
  instructions: 'Read this.',
  capabilities: { tools: {} },
  protocolVersion: '2025-11-25',
};
const text = JSON.stringify({ version: 1, ...offer });
const asItIs = (said: string): string => said;
const changed = (fields: object): string =>
  JSON.stringify({ ...(JSON.parse(text) as object), ...fields });
/** The text of an offer with this deep value in place of `capabilities`. */
const nested = (depth: number): string =>
  changed({ capabilities: { x: 7 } }).replace(
    '{"x":7}',
    `{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  );

describe('a kept offer', () => {
  it('a kept offer is read as it was written, in either era', () => {
    assert.deepEqual(readKept(text), offer);
    assert.deepEqual(readKept(changed({ protocolVersion: '2026-07-28' })), {
      ...offer,
      protocolVersion: '2026-07-28',
    });
  });

  const lists: RememberedOffer = {
    ...offer,
    listing: {
      tools: Array.from({ length: 3 }, (_, at) => ({
        name: `t${at}`,
        inputSchema: { type: 'object' as const },
      })),
      malformed: [],
      prompts: { prompts: [{ name: 'p' }], malformed: [], failure: 'The rest did not come.' },
      resources: undefined,
    },
  };

  it('a kept offer is written as JSON, one list entry after the other', async () => {
    for (const one of [offer, lists])
      assert.deepEqual(
        JSON.parse((await keptText(one, asItIs)) ?? ''),
        JSON.parse(JSON.stringify({ version: 1, ...one })),
      );
  });

  for (const secret of ['"t1"', '"p"', 'The rest', 'Read this', '"S"']) {
    it(`an offer with a secret in it is not written: ${secret} (P8)`, async () => {
      assert.equal(await keptText(lists, (said) => said.replace(secret, '***')), undefined);
    });
  }

  it('a long search for secrets lets others have their turn, and no part takes long (P10)', async () => {
    const tool = (length: number): (typeof offer.listing.tools)[number] => ({
      name: 'a',
      description: 'x'.repeat(length),
      inputSchema: { type: 'object' },
    });
    const many = {
      ...offer,
      listing: { tools: Array.from({ length: 30 }, () => tool(100_000)), malformed: [] },
    };
    let inOneTurn = 0;
    let most = 0;
    const look = (said: string): string => {
      if (inOneTurn === 0) setImmediate(() => (inOneTurn = 0));
      most = Math.max(most, (inOneTurn += said.length));
      return said;
    };
    assert.ok(((await keptText(many, look)) ?? '').length > 3_000_000);
    assert.ok(most < 400_000, `${most} characters in one turn`);
    assert.equal(
      await keptText({ ...offer, listing: { tools: [tool(300_000)], malformed: [] } }, look),
      undefined,
    );
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
    [
      'more lists than anybody has use for',
      changed({ x: 7 }).replace('"x":7', `"x":[${'[],'.repeat(2_000_001)}[]]`),
    ],
    ['JSON that ends before its end', text.slice(0, -1)],
    ['a list in place of everything', `[${text}]`],
  ] as const) {
    it(`a kept text with ${what} is dropped`, () => assert.equal(readKept(wrong), undefined));
  }

  it('a kept offer is cut like a server’s own', () => {
    const long = 'x'.repeat(1_000_000);
    const read = readKept(
      changed({ serverInfo: { name: long, version: long, title: long }, instructions: long }),
    );
    assert.ok(read && JSON.stringify(read).length < 100_000);
  });

  it('a name in a kept offer changes no other object', () => {
    const poisoned = text.replace('{"tools":{}}', '{"tools":{},"__proto__":{"polluted":true}}');
    assert.ok(readKept(poisoned));
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });
});
