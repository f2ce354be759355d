/**
 * Predicts the capabilities of the next client, because servers start before a client connects (G4,
 * L4). After a wrong prediction, the server of a conversation starts once more.
 */
import { isObject, type Fields } from '../base/isObject.js';
import type { ExpectedClient } from '../protocol/client.js';

export const usualOfEditor: Fields = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

interface LastClientDeps {
  readonly get: () => unknown;
  readonly update: (capabilities: Fields) => PromiseLike<void>;
  readonly roots: ExpectedClient['roots'];
  readonly usual: Fields;
}

export class LastClient {
  constructor(private readonly deps: LastClientDeps) {}

  readonly expected = (): ExpectedClient => ({
    capabilities: this.kept ?? this.deps.usual,
    roots: this.deps.roots,
  });

  readonly note = (capabilities: Fields): void => {
    if (JSON.stringify(capabilities) === JSON.stringify(this.kept)) return;
    // If they cannot be stored, the next start has the same prediction as this one.
    void Promise.resolve(this.deps.update(capabilities)).catch(() => undefined);
  };

  private get kept(): Fields | undefined {
    const kept = this.deps.get();
    return isObject(kept) ? kept : undefined;
  }
}
