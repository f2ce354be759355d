/**
 * Knows in which words programs say which of their conversations calls (G3). Everything here is pure.
 *
 * Seen in the programs themselves: Codex 0.169.0 names the thread of every call, and its threads may share a session.
 * Claude Code 2.1.330, Copilot CLI 1.0.102 and the clients of the SDK name none. What a program says counts only under
 * its own name and only where it is as unique as it has to be, so that no two conversations meet by chance.
 */
import { isObject } from '../base/isObject.js';
import type { Fields } from '../protocol/client.js';

interface Naming {
  /** The name that the program gives itself. */
  readonly program: string;
  /** The key in `_meta`. */
  readonly key: string;
}

const namings: readonly Naming[] = [{ program: 'codex-mcp-client', key: 'threadId' }];

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns the name of a program that says with every call which conversation calls. */
export function namerOf(clientInfo: unknown): string | undefined {
  const name = isObject(clientInfo) ? clientInfo['name'] : undefined;
  return namings.find(({ program }) => program === name)?.program;
}

/** Returns what a call of that program names its conversation. */
export function namedBy(program: string, meta: Fields | undefined): string | undefined {
  const naming = namings.find((one) => one.program === program);
  const said = naming && meta?.[naming.key];
  return typeof said === 'string' && uuid.test(said) ? said : undefined;
}
