/** Results for clients and saved files, for the tests of the delivery. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ArtifactStore } from '../../../src/core/results/artifacts.js';
import { Delivery } from '../../../src/core/results/delivery.js';
import { DiskArtifacts } from '../../../src/core/results/diskArtifacts.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { filesIn, Lines, newFolder, removeFolders } from './folder.js';

export const origin = { server: 'shop', tool: 'look', conversation: 'd' };
export const text = (value: string, more: object = {}): object => ({
  type: 'text',
  text: value,
  ...more,
});
export const userOnly = { annotations: { audience: ['user'] } };
export const bytes = Buffer.from('hello').toString('base64');
export const pngBytes = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1').toString('base64');
export const image = { type: 'image', data: bytes, mimeType: 'image/png' };
export const audio = { type: 'audio', data: bytes, mimeType: 'audio/wav' };
export const resource = (inner: object, more: object = {}): object => ({
  type: 'resource',
  resource: { uri: 'x:1', ...inner },
  ...more,
});

export const textsOf = (result: unknown): string[] =>
  (result as CallToolResult).content.map((part) => (part.type === 'text' ? part.text : part.type));

/** Gives each test of the suite a folder and a delivery. */
export function deliveryStage(): DeliveryStage {
  const stage = new DeliveryStage();
  beforeEach(() => stage.open());
  afterEach(() => stage.close());
  return stage;
}

class DeliveryStage {
  folder = '';
  maxResultBytes = 0;
  private used: { readonly store: ArtifactStore; readonly delivery: Delivery } | undefined;

  get delivery(): Delivery {
    assert.ok(this.used, 'there is a delivery within a test alone');
    return this.used.delivery;
  }

  open(): void {
    this.folder = newFolder();
    this.maxResultBytes = 1 << 20;
    this.use(
      new DiskArtifacts({
        folder: path.join(this.folder, 'storage'),
        quota: () => 1 << 26,
        clock: new FakeClock(),
        log: new Lines(),
      }),
    );
  }

  async close(): Promise<void> {
    await this.used?.store.settled();
    removeFolders();
  }

  use(store: ArtifactStore): void {
    this.used = {
      store,
      delivery: new Delivery({ artifacts: store, maxResultBytes: () => this.maxResultBytes }),
    };
  }

  /** Returns the result with `<n.extension>` for paths, and the contents of those files. */
  async delivered(given: Record<string, unknown>): Promise<{ result: unknown; files: string[] }> {
    const result = await this.delivery.readable(
      frozen(structuredClone(given)) as unknown as CallToolResult,
      origin,
    );
    const files: string[] = [];
    const named = JSON.stringify(result).replace(
      /(Saved as|is in) ([^\]]+?\.(\w+))\]/g,
      (_all, how, file, extension) => {
        files.push(readFileSync(JSON.parse(`"${file}"`) as string, 'latin1'));
        return `${how} <${files.length}.${extension}>]`;
      },
    );
    assert.equal(filesIn(this.folder).length, files.length, 'files that nobody was told of');
    return { result: JSON.parse(named), files };
  }
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
