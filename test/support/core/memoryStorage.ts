/** The editor's storage of a workspace, which keeps a value as JSON. */
import type { Storage } from '../../../src/core/approval/ledger.js';

export class MemoryStorage implements Storage {
  writes = 0;
  private readonly values = new Map<string, unknown>();
  get = (key: string): unknown => this.values.get(key);
  update = (key: string, value: unknown): Promise<void> => {
    this.writes++;
    if (value === undefined) this.values.delete(key);
    else this.values.set(key, JSON.parse(JSON.stringify(value)));
    return Promise.resolve();
  };
}
