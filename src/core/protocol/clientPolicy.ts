/**
 * What differs between the roads on which calls reach the host. It is data: a module reads the field
 * that it needs and never asks for the road.
 */

export type Road = 'editor' | 'agentHost' | 'agent' | 'minds' | 'tryTool' | 'app' | 'command';

export interface ClientPolicy {
  readonly road: Road;
  /** For the record, if the client has no name of a program. */
  readonly caller: string;
  /**
   * The names of servers and tools. The editor puts a prefix before the short names (G3a). An agent
   * host puts a longer one, and has no tool whose name is then too long.
   */
  readonly names: 'published' | 'editor' | 'agentHost';
  /** `readable`: models get texts, files and images instead of structure and bytes (V1). */
  readonly results: 'readable' | 'asGiven';
  /** The tool that ends the conversation's instance: of each toolset, or of `mcp_admin`. */
  readonly release: 'ofToolset' | 'ofAdmin';
  /** The app of a result is a part of its client, or a page of the editor without a name (G8). */
  readonly apps: 'ofClient' | 'ofEditor';
  /** The conversations of one session. Named conversations outlive their sessions (G3). */
  readonly conversations: 'one' | 'named';
  /** True if lists mark the tools with a question of ours, so that the client asks no second one (S4). */
  readonly marksQuestions: boolean;
  /** True if a client may speak 2026-07-28. */
  readonly isModern: boolean;
}

const agent: ClientPolicy = {
  road: 'agent',
  caller: '',
  names: 'published',
  results: 'asGiven',
  release: 'ofToolset',
  apps: 'ofClient',
  conversations: 'one',
  marksQuestions: false,
  isModern: true,
};

export const policies = {
  /** VS Code itself. */
  editor: {
    road: 'editor',
    caller: '',
    names: 'editor',
    results: 'readable',
    release: 'ofAdmin',
    apps: 'ofEditor',
    conversations: 'named',
    marksQuestions: true,
    isModern: false,
  },
  /** A program that the editor runs for its chat. It has the editor's address. */
  agentHost: {
    ...agent,
    road: 'agentHost',
    names: 'agentHost',
    results: 'readable',
    isModern: false,
  },
  /** Every other program. */
  agent,
  minds: {
    ...agent,
    road: 'minds',
    caller: '@minds',
    results: 'readable',
    release: 'ofAdmin',
  },
  tryTool: {
    ...agent,
    road: 'tryTool',
    caller: 'Try Tool',
  },
  /** An app in a panel of ours. */
  app: { ...agent, road: 'app' },
  command: {
    ...agent,
    road: 'command',
    caller: 'mcp-toolsets call',
  },
} as const satisfies Record<Road, ClientPolicy>;

/** The program behind a call, for people. */
export function callerOf({ caller }: ClientPolicy, program: string): string {
  return caller === '' ? program : caller;
}
