import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { LoopShare } from '../../../src/core/base/turns.js';
import { nowhere, type ArtifactStore } from '../../../src/core/results/artifacts.js';
import { Delivery } from '../../../src/core/results/delivery.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('results in slices (P10)', () => {
  let turns: number;
  let isOver: boolean;
  let wall: number;
  let charged: number;
  let share: LoopShare;

  beforeEach(() => {
    [turns, wall, charged, isOver] = [0, 0, 0, false];
    // Each step ends its slice, and each slice is charged a little.
    share = new LoopShare(
      new FakeClock(),
      { now: () => (charged += 0.01) },
      { now: () => (wall += 10) },
    );
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    count();
  });

  afterEach(() => (isOver = true));

  function delivery(saved: (bytes: Buffer) => void): Delivery {
    const artifacts: ArtifactStore = {
      ...nowhere(''),
      save: (_, { pieces }) => {
        const bytes = Buffer.concat(pieces);
        saved(bytes);
        return Promise.resolve({ kind: 'saved', path: '/file', bytes: bytes.length });
      },
    };
    return new Delivery({ artifacts, maxResultBytes: () => 1 << 20 });
  }

  const image = (byte: number) => {
    const bytes = Buffer.alloc(300_000, byte);
    return { type: 'image', data: bytes.toString('base64url'), mimeType: 'image/png' } as const;
  };

  it('the images of one answer are decoded in several turns and in their order', async () => {
    const result: CallToolResult = { content: [0xfb, 0xff, 0xfe].map(image) };
    share.owns(result);
    const saved: [number | undefined, number][] = [];
    const given = await delivery((bytes) => saved.push([bytes[0], turns])).readable(result, {
      conversation: 'd',
      server: 's',
      tool: 't',
    });
    assert.deepEqual(
      saved.map(([byte]) => byte),
      [0xfb, 0xff, 0xfe],
    );
    const [first = 0, second = 0, third = 0] = saved.map(([, turn]) => turn);
    assert.ok(first > 10 && second - first > 10 && third - second > 10, JSON.stringify(saved));
    assert.ok(turns - third > 30, 'the images for the model are written in turns too');
    assert.deepEqual(
      given.content.flatMap((part) => (part.type === 'image' ? [part.data] : [])),
      [0xfb, 0xff, 0xfe].map((byte) => Buffer.alloc(300_000, byte).toString('base64')),
    );
  });

  it('the server pays for the slices of its answer (S2c)', async () => {
    const result: CallToolResult = { content: [image(0xff)] };
    share.owns(result);
    const before = charged;
    await delivery(() => {}).asGiven(result, { server: 's', tool: 't', conversation: 'd' });
    assert.ok(charged - before > 0.5, `${charged - before} ms`);
  });

  it('thousands of parts take several turns', async () => {
    const content = Array.from(
      { length: 1_000 },
      () => ({ type: 'audio', data: 'YQ==', mimeType: 'a/b' }) as const,
    );
    const result: CallToolResult = { content };
    share.owns(result);
    await delivery(() => {}).readable(result, { server: 's', tool: 't', conversation: 'd' });
    assert.ok(turns > 1_000, `${turns} turns`);
  });
});
