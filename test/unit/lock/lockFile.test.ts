import assert from 'node:assert/strict';
import { readLock, writtenLock, type Lock } from '../../../src/core/lock/lockFile.js';
import { differencesOf, lockedServer, otherPackage } from '../../../src/core/lock/lockedServer.js';
import { planLock } from '../../../src/core/lock/lockPlan.js';
import { offersOf, type ShortOffers } from '../../support/core/reviewedOffers.js';

const inputSchema = { type: 'object' } as const;
const tool = (name: string, description: string, rest = {}) => ({
  name,
  description,
  inputSchema,
  ...rest,
});
const server = (offers: ShortOffers, version?: string) =>
  lockedServer(
    offersOf(offers),
    version === undefined
      ? undefined
      : { launcher: 'npx', name: 'docs', pinned: true, runs: version, integrity: 'sha512-x' },
  );

const one: Lock = new Map([
  [
    'docs',
    server(
      {
        tool: [
          tool('b', 'B', { annotations: { readOnlyHint: true } }),
          tool('a', 'A {\n} "'),
          tool('constructor', 'C'),
        ],
        prompt: [{ name: 'p' }],
        instructions: 'Read.',
      },
      '1.2.3',
    ),
  ],
]);
const text = writtenLock(one);

function wrong(change: (text: string) => string): string {
  const read = readLock(change(text));
  assert.ok(typeof read === 'string', 'it was read');
  return read;
}

describe('the text of a lock (S3d)', () => {
  it('A lock has one entry a line, in one order, and its text gives the same lock', () => {
    const lines = text.split('\n').map((line) => line.replace(/[\w-]{43}/g, '…'));
    assert.deepEqual(lines.slice(3, 7), [
      '      "instructions": { "text": "…" },',
      '      "package": { "integrity": "sha512-x", "launcher": "npx", "name": "docs", "version": "1.2.3" },',
      '      "prompts": {',
      '        "p": { "arguments": "…", "description": "…" }',
    ]);
    assert.ok(lines.includes('        "a": { "description": "…", "schema": "…" },'));
    assert.ok(lines.includes('        "b": { "description": "…", "hints": "…", "schema": "…" },'));
    const read = readLock(text);
    assert.ok(typeof read !== 'string');
    assert.equal(writtenLock(read), text);
    assert.deepEqual(differencesOf(one.get('docs')!, read.get('docs')!), []);
  });

  it('The order of a listing and of keys changes no byte of the lock', () => {
    const turned = new Map([['x', server({ tool: [tool('b', 'B'), tool('a', 'A')] })]]);
    const straight = new Map([['x', server({ tool: [tool('a', 'A'), tool('b', 'B')] })]]);
    assert.equal(writtenLock(turned), writtenLock(straight));
  });

  it('A lock with a part that this version does not know is not read, because it might say more', () => {
    assert.match(
      wrong((whole) => whole.replace('"schema"', '"shape"')),
      /entry of "docs"/,
    );
    assert.match(
      wrong((whole) => whole.replace('"tools"', '"toolz"')),
      /entry of "docs"/,
    );
    assert.match(
      wrong((whole) => whole.replace(/"[\w-]{43}"/, '"short"')),
      /entry of "docs"/,
    );
    assert.match(
      wrong((whole) => whole.replace('"version": 1\n', '"version": 2\n')),
      /another version/,
    );
    assert.match(
      wrong((whole) => whole.slice(0, -3)),
      /no whole JSON/,
    );
    assert.match(
      wrong((whole) => `[${whole}]`),
      /no whole JSON/,
    );
    assert.match(
      wrong(() => '{"version":1}'),
      /servers/,
    );
  });

  it('A difference from a lock names what was added, removed and changed, and another package', () => {
    const was = server({ tool: [tool('a', 'A'), tool('b', 'B')], instructions: 'x' }, '1.0.0');
    const schema = { inputSchema: { type: 'object', required: [] } };
    const is = server({ tool: [tool('a', 'A.', schema), tool('c', 'C')] }, '1.0.1');
    assert.deepEqual(
      differencesOf(was, is).map(({ name, how }) => `${name} ${how}`),
      [
        'its instructions removed',
        'tool "a" description and schema changed',
        'tool "b" removed',
        'tool "c" added',
      ],
    );
    assert.deepEqual(otherPackage(was, is), { locked: 'docs 1.0.0', now: 'docs 1.0.1' });
    assert.equal(otherPackage(was, server({})), undefined, 'an unknown version differs from none');
  });

  it('A plan for a lock keeps what was not asked for, and servers that listed nothing', () => {
    const running = (id: string, now = server({ tool: [tool('a', id)] })) => ({
      id,
      origin: 'folder' as const,
      state: { kind: 'running' },
      toLock: () => ({ server: now, isPlain: true, offers: offersOf({}) }),
    });
    const failed = { ...running('f'), toLock: () => undefined };
    const own = { ...running('own'), origin: 'user' as const };
    const before = new Map([...one, ['f', server({})] as const]);
    const all = planLock([running('x'), failed, own], before);
    assert.deepEqual(
      [
        ...(readLock(all.text) as Lock).keys(),
        all.unlisted,
        all.changes.map(({ server: id, how }) => `${id} ${how}`),
      ],
      ['f', 'x', ['f'], ['x added', 'docs removed']],
    );
    const named = planLock([running('x')], before, ['x']);
    assert.deepEqual([...(readLock(named.text) as Lock).keys()], ['docs', 'f', 'x']);
  });
});
