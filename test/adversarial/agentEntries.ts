/** The plan of `entries` for an agent's file with an existing text. */
import { agents, launcherFor, type AgentKind } from '../../src/core/agents/agents.js';
import { planEntries } from '../../src/core/agents/planEntries.js';

export const entriesIn = (agent: AgentKind, text: string): ReturnType<typeof planEntries> =>
  planEntries({
    agent,
    text,
    label: agents[agent].program,
    toolsets: ['files'],
    isEach: true,
    launcher: launcherFor(agent, '/home/ada'),
    folder: '/ws',
    tokenFile: '/home/ada/.minds/endpoints/a.token',
  });
