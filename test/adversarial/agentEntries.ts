/** The plan of `entries` for an agent's file with an existing text. */
import { agents, type AgentKind } from '../../src/core/agents/agents.js';
import { planEntries } from '../../src/core/agents/planEntries.js';

export const entriesIn = (agent: AgentKind, text: string): ReturnType<typeof planEntries> =>
  planEntries({
    agent,
    text,
    label: agents[agent].program,
    toolsets: [{ id: 'files', url: 'http://127.0.0.1:7427/mcp/files' }],
    source: { tokenFile: '/home/ada/.minds/endpoints/a.token', home: '/home/ada', platform: 'linux' },
    launcher: { command: 'node', args: ['/opt/cli.js'], folder: '/ws' },
  });
