/**
 * The protocol of the bridge between an extension host and the run that started it: JSON over
 * loopback HTTP, one POST a message, at the address in the environment variable `bridgeVariable`.
 */
import type { ProcessEntry } from './processes.ts';

export const bridgeVariable = 'MCP_TOOLSETS_TEST_BRIDGE';

/** Marks every process of one editor through its environment. */
export const editorVariable = 'MCP_TOOLSETS_TEST_EDITOR';

/** An event of a mocha run inside the extension host. */
export type TestEvent =
  | { kind: 'suite'; title: string; depth: number }
  | { kind: 'pass'; title: string; fullTitle: string; depth: number; durationMs: number }
  | { kind: 'fail'; title: string; fullTitle: string; depth: number; error: string }
  | { kind: 'skip'; title: string; fullTitle: string; depth: number; reason?: string };

/** The next suite of the window. */
export interface NextSuite {
  /** Its bundle from `bundle.ts`, beside `hostEntry.ts`. */
  file: string;
  /** Its user settings. */
  settings: Record<string, unknown>;
}

/** A request of a test to its page. Selectors are Playwright's. */
export type PageRequest =
  | { do: 'screenshot'; name: string }
  | { do: 'click'; selector: string; button?: 'left' | 'right'; double?: boolean }
  | { do: 'hover'; selector: string }
  | { do: 'scroll'; selector: string; down: number }
  | { do: 'press'; keys: string }
  | { do: 'type'; text: string }
  | { do: 'fill'; selector: string; text: string }
  | { do: 'waitFor'; selector: string; state: 'visible' | 'hidden' }
  | { do: 'texts'; selector: string }
  | { do: 'images'; selector: string }
  /** Checks the document of the element with axe. */
  | { do: 'axe'; selector: string }
  | { do: 'consoleErrors' };

/** An `<img>` of the page. */
export interface PageImage {
  src: string;
  /** Width and height of the decoded picture in pixels, or 0 without a picture. */
  width: number;
  height: number;
}

/** Path below the bridge's address → message and answer. */
export interface BridgeCalls {
  about: { message: Record<string, never>; answer: { desktop: boolean } };
  /** Sent after the window has opened and after each suite. `null` means no more suites. */
  nextSuite: { message: Record<string, never>; answer: NextSuite | null };
  /**
   * Sent when nothing of the previous suite is left. The answer comes after the workspace is
   * written.
   */
  beginSuite: { message: Record<string, never>; answer: null };
  report: { message: TestEvent; answer: null };
  page: { message: PageRequest; answer: unknown };
  processes: { message: Record<string, never>; answer: ProcessEntry[] };
}

/** The helper extension `remote-control` sends this with every request for work. */
export interface HostIntroduction {
  hostId: string;
  pid: number;
  /** The path of the `.code-workspace` file or of the first folder. */
  target: string;
}

/** Work for an extension host: the source of a function of `(vscode, argument)`. */
export interface HostWork {
  id: number;
  source: string;
  argument: unknown;
}

export type HostAnswer = { id: number; value: unknown } | { id: number; error: string };
