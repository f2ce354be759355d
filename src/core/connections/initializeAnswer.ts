/** Whether the answer to `initialize` is one (spec X3). Pure. */
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../base/isObject.js';
import { shortened } from './jsonRpc.js';

/** Newest first; the first one is what we ask for. */
export const knownProtocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export interface ServerFacts {
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly protocolVersion: string;
}

/** `wrong` says what, as the end of a sentence that begins with "The answer to initialize". */
export type InitializeAnswer =
  { readonly kind: 'right'; readonly facts: ServerFacts } | { readonly kind: 'wrong'; readonly detail: string };

export function readInitializeAnswer(result: unknown): InitializeAnswer {
  if (!isObject(result)) return wrong(`is not an object but ${shortened(JSON.stringify(result) ?? 'nothing', 100)}`);
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  if (typeof protocolVersion !== 'string') return wrong('names no protocol version');
  if (!(knownProtocolVersions as readonly string[]).includes(protocolVersion)) {
    return wrong(
      `names protocol version ${shortened(protocolVersion, 40)}; known are ${[...knownProtocolVersions].reverse().join(', ')}`,
    );
  }
  if (!isObject(capabilities)) return wrong('has no capabilities');
  if (!isObject(serverInfo)) return wrong('has no serverInfo');
  const { name, version, title } = serverInfo;
  if (typeof name !== 'string' || typeof version !== 'string')
    return wrong('has a serverInfo without name and version');
  return {
    kind: 'right',
    facts: {
      serverInfo: { name, version, ...(typeof title === 'string' && { title }) },
      instructions: typeof instructions === 'string' && instructions !== '' ? instructions : undefined,
      capabilities: capabilities as ServerCapabilities,
      protocolVersion,
    },
  };
}

function wrong(detail: string): InitializeAnswer {
  return { kind: 'wrong', detail };
}
