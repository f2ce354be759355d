/** The editor's storage of a workspace, which keeps copies. */
import type { Storage } from '../../../src/core/approval/ledger.js';

export class MemoryStorage implements Storage {
  private readonly values = new Map<string, unknown>();
  get = (key: string): unknown => this.values.get(key);
  update = (key: string, value: unknown): Promise<void> => {
    this.values.set(key, structuredClone(value));
    return Promise.resolve();
  };
}
