/**
 * The editor as an MCP client before it has connected: servers are told at their start what their client can do, and
 * the first ones start before the editor speaks to the gateway (G4, L4). What it declared last is kept; before
 * that, what VS Code is known to declare. A wrong guess costs a conversation one start, and nothing else: its server is
 * told what was really declared. Does not import `vscode`.
 */
import { isObject } from '../../core/base/isObject.js';
import type { ExpectedClient, Fields } from '../../core/protocol/client.js';

/** Of VS Code's `Memento`. */
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

  /** The editor has connected, and declared these. */
  readonly note = (capabilities: Fields): void => {
    if (JSON.stringify(capabilities) === JSON.stringify(this.kept)) return;
    // Where it cannot be kept, the next window guesses as this one did.
    void Promise.resolve(this.store.update(key, capabilities)).catch(() => undefined);
  };

  private get kept(): Fields | undefined {
    const kept = this.store.get(key);
    return isObject(kept) ? kept : undefined;
  }
}
