/** Registers all of `@minds` and its team. The first question loads the code that answers (P1). */
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { inert } from '../../core/base/inert.js';
import type { Place } from '../../core/base/problem.js';
import { startOfFile } from '../../core/config/model.js';
import { configuredToolsets } from '../../core/host/conversationTools.js';
import { maxSteps } from '../engine/settings.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { registerAgentFiles } from './agentFiles.js';
import { command, CompletionItem } from '../views/inertEditor.js';
import { toolCount } from '../views/phrases.js';
import { ArtifactLinks, registerShownFiles } from './artifactLinks.js';
import type { MindsDeps } from './participant.js';
import { ModelProblems } from './modelProblems.js';
import { ChatQuestions } from './questions.js';
import { teamPath } from '../../core/team/grants.js';
import { TeamFiles } from './teamFiles.js';

/** `package.json` has the same id. */
const participantId = 'mcpToolsets.minds';

interface RegisterDeps extends Pick<MindsDeps, 'slot' | 'clock' | 'log' | 'titles' | 'pages'> {
  readonly storage: string | undefined;
}

export function registerMinds({ slot, clock, log, storage, titles, pages }: RegisterDeps): Disposable {
  const store = new DisposableStore('@minds');
  const team = store.add(new TeamFiles(clock));
  const problems = new ModelProblems(() => slot.refresh());
  const artifacts = store.add(new ArtifactLinks(storage));
  const questions = store.add(new ChatQuestions());
  const deps = { slot, clock, log, team, pages, artifacts, questions, problems, titles, maxSteps };

  store.add(registerShownFiles(slot, artifacts));
  store.add(watchTeam(slot, team));
  store.add(registerAgentFiles({ slot, team, clock, log }));
  store.add(completeTeamFiles(slot));
  slot.observe(() => problems.problems(slot.engine?.host.catalogue.toolsets ?? [], (server) => placeIn(slot, server)));
  store.add(
    command('minds.continue', () =>
      vscode.commands.executeCommand('workbench.action.chat.open', { query: '@minds /continue' }),
    ),
  );
  store.add(
    command('explainTool', async () => {
      const { explainTool } = await import('./explainTool.js');
      await explainTool(slot.state.snapshot, team.view.members);
    }),
  );
  const participant = store.add(
    vscode.chat.createChatParticipant(participantId, async (...request) => {
      const { answer } = await import('./participant.js');
      return answer(deps, ...request);
    }),
  );
  participant.iconPath = new vscode.ThemeIcon('tools');
  participant.followupProvider = {
    provideFollowups: async (result) => {
      const { followupsOf } = await import('./chatCommands.js');
      return followupsOf(result, slot, team.view);
    },
  };
  setImmediate(() => team.start());
  store.add(vscode.workspace.onDidGrantWorkspaceTrust(() => team.start()));
  return store;
}

function placeIn({ state }: EngineSlot, server: string | undefined): Place | undefined {
  const { servers } = state.snapshot;
  if (server !== undefined) return servers.find(({ id }) => id === server)?.place;
  const [first] = servers;
  return first && { file: first.source, range: startOfFile };
}

function watchTeam(slot: EngineSlot, team: TeamFiles): Disposable {
  const store = new DisposableStore('problems of the team');
  store.add(team.onDidChange(() => slot.refresh()));
  slot.observe((phase) => {
    // The configured toolsets are unknown then.
    if (phase === 'reading' || phase === 'untrusted' || (phase === 'serving' && !slot.engine)) return [];
    const snapshot = slot.engine?.host.snapshot ?? slot.state.snapshot;
    const toolsets = slot.engine?.host.catalogue.toolsets ?? [];
    const passing = snapshot.servers.filter(({ state }) => state.kind === 'starting' || state.kind === 'reconnecting');
    return team.problems(configuredToolsets(snapshot, toolsets), new Set(passing.map(({ id }) => id)));
  });
  return store;
}

/** Completes `.minds/team.yaml` (D2). */
function completeTeamFiles(slot: EngineSlot): Disposable {
  const files: vscode.DocumentSelector = { scheme: 'file', pattern: `**/${teamPath}` };
  return vscode.languages.registerCompletionItemProvider(
    files,
    {
      provideCompletionItems: async (document, position) => {
        const { completeTeam } = await import('../../core/team/teamCompletion.js');
        const toolsets = slot.engine?.host.catalogue.toolsets ?? [];
        const known = configuredToolsets(slot.state.snapshot, toolsets).map(({ id, down }) => {
          const count = toolsets.find((toolset) => toolset.id === id)?.tools.length ?? 0;
          return { id, state: down ?? toolCount(count, count) };
        });
        return completeTeam(document.getText(), document.offsetAt(position), known).map((found, index) => {
          const kind = found.insert.includes(':')
            ? vscode.CompletionItemKind.Property
            : vscode.CompletionItemKind.Value;
          const item = new CompletionItem({ label: inert`${found.label}`, description: inert`${found.detail}` }, kind);
          item.insertText = found.insert;
          item.range = new vscode.Range(document.positionAt(found.span.start), document.positionAt(found.span.end));
          item.filterText = document.getText(item.range).startsWith("'") ? found.insert : found.label;
          item.sortText = String(index).padStart(4, '0');
          return item;
        });
      },
    },
    ...[' ', ':', "'", '"', '[', ',', '!'],
  );
}
