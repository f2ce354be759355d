/**
 * Registers `@minds` and what belongs to it: its commands, the pages of calls, the questions, the follow-ups, and the problems
 * of team and models. The code that answers is loaded with the first question (P1).
 */
import * as vscode from 'vscode';
import type { Clock } from '../../core/base/clock.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import type { Log } from '../../core/base/log.js';
import type { Place } from '../../core/base/problem.js';
import { startOfFile } from '../../core/config/model.js';
import { configuredToolsets } from '../../core/host/conversationTools.js';
import { maxSteps } from '../engine/settings.js';
import type { ConversationTitles } from '../engine/conversationTitles.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { registerAgentFiles } from './agentFiles.js';
import { ArtifactLinks } from './artifactLinks.js';
import { CallPages } from './callPages.js';
import { registerShownFiles } from './shownFiles.js';
import { ModelProblems } from './modelProblems.js';
import { ChatQuestions } from './questions.js';
import { registerTeamAuthoring } from './teamAuthoring.js';
import { TeamFiles } from './teamFiles.js';

/** The same id stands in `package.json`. */
const participantId = 'mcpToolsets.minds';

interface RegisterDeps {
  readonly slot: EngineSlot;
  readonly clock: Clock;
  readonly log: Log;
  /** The storage folder of the workspace; undefined if no folder is open. */
  readonly storage: string | undefined;
  readonly titles: Pick<ConversationTitles, 'note'>;
}

export function registerMinds({ slot, clock, log, storage, titles }: RegisterDeps): Disposable {
  const store = new DisposableStore('@minds');
  const team = store.add(new TeamFiles(clock));
  const problems = new ModelProblems(() => slot.refresh());
  const pages = store.add(new CallPages());
  const artifacts = store.add(new ArtifactLinks(storage));
  const questions = store.add(new ChatQuestions());
  const deps = { slot, clock, log, team, pages, artifacts, questions, problems, titles, maxSteps };

  store.add(registerShownFiles(slot, artifacts));
  store.add(watchTeam(slot, team));
  store.add(registerAgentFiles({ slot, team, clock, log }));
  store.add(registerTeamAuthoring(slot));
  slot.observe(() => problems.problems(slot.engine?.host.catalogue.toolsets ?? [], (server) => placeIn(slot, server)));
  store.add(
    vscode.commands.registerCommand('mcpToolsets.minds.continue', () =>
      vscode.commands.executeCommand('workbench.action.chat.open', { query: '@minds /continue' }),
    ),
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
      const { followupsOf } = await import('./followups.js');
      return followupsOf(result, slot, team.view);
    },
  };
  setImmediate(() => team.start());
  store.add(vscode.workspace.onDidGrantWorkspaceTrust(() => team.start()));
  return store;
}

/** Returns the place of a server or, without one, the beginning of the first config file. */
function placeIn({ state }: EngineSlot, server: string | undefined): Place | undefined {
  const { servers } = state.snapshot;
  if (server !== undefined) return servers.find(({ id }) => id === server)?.place;
  const [first] = servers;
  return first && { file: first.source, range: startOfFile };
}

/** Keeps the problems of the team among those of the window, as files and servers change. */
function watchTeam(slot: EngineSlot, team: TeamFiles): Disposable {
  const store = new DisposableStore('problems of the team');
  store.add(team.onDidChange(() => slot.refresh()));
  slot.observe((phase) => {
    // What is configured is not known then.
    if (phase === 'reading' || phase === 'untrusted' || (phase === 'serving' && !slot.engine)) return [];
    const snapshot = slot.engine?.host.snapshot ?? slot.state.snapshot;
    const toolsets = slot.engine?.host.catalogue.toolsets ?? [];
    const passing = snapshot.servers.filter(({ state }) => state.kind === 'starting' || state.kind === 'reconnecting');
    return team.problems(configuredToolsets(snapshot, toolsets), new Set(passing.map(({ id }) => id)));
  });
  return store;
}
