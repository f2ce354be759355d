/** Registers all of `@minds` and its team. The first question loads the code that answers (P1). */
import * as vscode from 'vscode';
import { inert } from '../../core/base/inert.js';
import type { Place, Problem } from '../../core/base/problem.js';
import { startOfFile } from '../../core/config/model.js';
import { configuredToolsets } from '../../core/catalogue/configuredToolsets.js';
import type { Shell } from '../engine/shell.js';
import type { CallPages } from '../views/calls/callsView.js';
import type { EngineSlot, WindowState } from '../engine/engineSlot.js';
import type { AgentFiles } from './agentFiles.js';
import { commands, CompletionItem, orShowFailure } from '../views/inertEditor.js';
import { toolCount } from '../views/phrases.js';
import { isStarting } from '../views/serverStates.js';
import { setContext } from '../views/trees.js';
import { ArtifactLinks, registerShownFiles } from './artifactLinks.js';
import { ModelProblems } from './modelProblems.js';
import { ChatQuestions } from './questions.js';
import { teamPath } from '../../core/team/grants.js';
import { nodeOf } from '../views/rows/subject.js';
import { TeamFiles } from './teamFiles.js';

/** `package.json` has the same id. */
const participantId = 'mcpToolsets.minds';

export function registerMinds(shell: Shell, pages: CallPages): vscode.Disposable {
  const { slot, clock, storage } = shell;
  const team = new TeamFiles(clock);
  const problems = new ModelProblems(() => slot.refresh());
  const artifacts = new ArtifactLinks(storage);
  const questions = new ChatQuestions();

  slot.observe((phase) => [
    ...problems.problems(
      slot.toolsets,
      (server) => slot.serverOf(server)?.place ?? firstFile(slot),
    ),
    ...problemsOfTeam(phase, slot, team),
  ]);
  const participant = vscode.chat.createChatParticipant(participantId, async (...request) => {
    const { answer } = await import('./participant.js');
    const deps = {
      shell,
      team,
      pages,
      artifacts,
      questions,
      problems,
    };
    return answer(deps, ...request);
  });
  participant.iconPath = new vscode.ThemeIcon('tools');
  participant.followupProvider = {
    provideFollowups: async (result) => {
      const { followupsOf } = await import('./chatCommands.js');
      return followupsOf(result, slot, team.view);
    },
  };
  setImmediate(() => team.start());
  return vscode.Disposable.from(
    team,
    artifacts,
    questions,
    participant,
    registerShownFiles(slot, artifacts),
    followAgentFiles(shell, team),
    completeTeamFiles(slot),
    team.onDidChange(() => slot.refresh()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => team.start()),
    commands({
      'minds.continue': () =>
        vscode.commands.executeCommand('workbench.action.chat.open', { query: '@minds /continue' }),
      explainTool: async (subject) => {
        const { explainTool } = await import('./explainTool.js');
        const { server, original } = nodeOf(subject) ?? {};
        const row = server === undefined ? undefined : { server, original };
        await explainTool(slot.state.snapshot, team.view.members, row);
      },
    }),
  );
}

function followAgentFiles(shell: Shell, team: TeamFiles): vscode.Disposable {
  const { slot } = shell;
  let loading: Promise<AgentFiles> | undefined;
  const files = (): Promise<AgentFiles> =>
    (loading ??= import('./agentFiles.js').then((code) => new code.AgentFiles(shell, team)));
  let known = '';
  const follow = async (): Promise<void> => {
    setContext('team', team.view.teams.length > 0);
    // While the toolsets are unknown, no grant would count.
    if (team.view.teams.length === 0 || !slot.engine || slot.state.phase !== 'serving') return;
    (await files()).follow();
  };
  return vscode.Disposable.from(
    team.onDidChange(() => void orShowFailure(follow)),
    slot.onDidChange(({ snapshot }) => {
      const now = JSON.stringify(snapshot.servers.map(({ id }) => id));
      if (now === known) return;
      known = now;
      void orShowFailure(follow);
    }),
    commands({ writeAgents: async () => (await files()).writeAll() }),
  );
}

function firstFile(slot: EngineSlot): Place | undefined {
  const [first] = slot.state.snapshot.servers;
  return first && { file: first.source, range: startOfFile };
}

function problemsOfTeam(
  phase: WindowState['phase'],
  slot: EngineSlot,
  team: TeamFiles,
): readonly Problem[] {
  // The configured toolsets are unknown then.
  if (phase === 'reading' || phase === 'untrusted' || (phase === 'serving' && !slot.engine))
    return [];
  const snapshot = slot.engine?.host.snapshot ?? slot.state.snapshot;
  const passing = snapshot.servers.filter(isStarting);
  return team.problems(
    configuredToolsets(snapshot, slot.toolsets),
    new Set(passing.map(({ id }) => id)),
  );
}

function completeTeamFiles(slot: EngineSlot): vscode.Disposable {
  const files: vscode.DocumentSelector = { scheme: 'file', pattern: `**/${teamPath}` };
  return vscode.languages.registerCompletionItemProvider(
    files,
    {
      provideCompletionItems: async (document, position) => {
        const { completeTeam } = await import('../../core/team/teamCompletion.js');
        const { toolsets } = slot;
        const known = configuredToolsets(slot.state.snapshot, toolsets).map(({ id, down }) => {
          const count = toolsets.find((toolset) => toolset.id === id)?.tools.length ?? 0;
          return { id, state: down ?? toolCount(count) };
        });
        return completeTeam(document.getText(), document.offsetAt(position), known).map(
          (found, index) => {
            const { Property, Value } = vscode.CompletionItemKind;
            const kind = found.insert.includes(':') ? Property : Value;
            const item = new CompletionItem(
              { label: inert`${found.label}`, description: inert`${found.detail}` },
              kind,
            );
            item.insertText = found.insert;
            item.range = new vscode.Range(
              document.positionAt(found.span.start),
              document.positionAt(found.span.end),
            );
            item.filterText = document.getText(item.range).startsWith("'")
              ? found.insert
              : found.label;
            item.sortText = String(index).padStart(4, '0');
            return item;
          },
        );
      },
    },
    ' ',
    ':',
    "'",
    '"',
    '[',
    ',',
    '!',
  );
}
