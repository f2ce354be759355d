/**
 * Predicts what the editor will declare as an MCP client. Servers are told at their start what their client can do, and the
 * first ones start before the editor connects to the gateway (G4, L4). The prediction is what the editor declared last or,
 * the first time, what VS Code is known to declare. A wrong prediction costs a conversation one more start of its server,
 * which is then told what was really declared. Does not import `vscode`.
 */
import { isObject } from '../../core/base/isObject.js';
import type { ExpectedClient, Fields } from '../../core/protocol/client.js';

/** The part of VS Code's `Memento` that is used here. */
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

  /** Keeps what the editor declared when it connected. */
  readonly note = (capabilities: Fields): void => {
    if (JSON.stringify(capabilities) === JSON.stringify(this.kept)) return;
    // If it cannot be kept, the next window starts from the same prediction as this one.
    void Promise.resolve(this.store.update(key, capabilities)).catch(() => undefined);
  };

  private get kept(): Fields | undefined {
    const kept = this.store.get(key);
    return isObject(kept) ? kept : undefined;
  }
}
