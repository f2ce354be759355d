/**
 * Predicts the capabilities that the editor will declare as an MCP client. A server receives the capabilities of its client
 * when it starts, and the first servers start before the editor connects to the gateway (G4, L4). The prediction is the last
 * declaration of the editor, or at first the usual one of VS Code. After a wrong prediction, the server of a conversation
 * starts once more with the real capabilities. Does not import `vscode`.
 */
import { isObject } from '../../core/base/isObject.js';
import type { ExpectedClient, Fields } from '../../core/protocol/client.js';

interface CapabilityStore {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

const key = 'mcpToolsets.editorCapabilities';

const usual: Fields = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

export class EditorClient {
  constructor(
    private readonly store: CapabilityStore,
    private readonly roots: ExpectedClient['roots'],
  ) {}

  readonly expected = (): ExpectedClient => {
    const { roots } = this;
    return { capabilities: this.kept ?? usual, roots };
  };

  /** Keeps the capabilities of the editor when it connects. */
  readonly note = (capabilities: Fields): void => {
    if (JSON.stringify(capabilities) === JSON.stringify(this.kept)) return;
    // If they cannot be stored, the next window starts from the same prediction as this one.
    void Promise.resolve(this.store.update(key, capabilities)).catch(() => undefined);
  };

  private get kept(): Fields | undefined {
    const kept = this.store.get(key);
    return isObject(kept) ? kept : undefined;
  }
}
