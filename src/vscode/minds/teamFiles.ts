/** Follows `.minds/team.yaml` of each folder (D2). An invalid file keeps its last team. The first file loads the reader (P1). */
import * as vscode from 'vscode';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.js';
import { Emitter, nextEvent } from '../../core/base/events.js';
import type { Problem } from '../../core/base/problem.js';
import { teamPath, type ConfiguredToolset } from '../../core/team/grants.js';
import type { Member, Team } from '../../core/team/team.js';
import type * as teamModule from '../../core/team/team.js';
import { FollowedFiles, folderPaths } from '../engine/configFiles.js';

export interface TeamView {
  readonly teams: readonly Team[];
  readonly members: readonly Member[];
  /** The member who answers without a choice. */
  readonly spokesperson: Member | undefined;
}

type TeamFile = { readonly file: string; readonly folder: string };

export class TeamFiles implements vscode.Disposable {
  private readonly changes = new Emitter<TeamView>();
  private files: FollowedFiles<TeamFile> | undefined;
  private reader: typeof teamModule | undefined;
  /** The last valid team of each file, and the problems of all. */
  private readonly valid = new Map<string, Team>();
  private own: readonly Problem[] = [];
  private isRead = false;
  view: TeamView = { teams: [], members: [], spokesperson: undefined };
  readonly onDidChange = this.changes.event;

  constructor(private readonly clock: Clock) {}

  /** Begins if the workspace is trusted. Call it again when the workspace becomes trusted. */
  start(): void {
    if (this.files || !vscode.workspace.isTrusted) return;
    this.files = new FollowedFiles<TeamFile>({
      clock: this.clock,
      wanted: () => folderPaths().map((folder) => ({ file: join(folder, teamPath), folder })),
      patternOf: ({ folder }) => new vscode.RelativePattern(vscode.Uri.file(folder), teamPath),
      onChange: () => void this.read(),
    });
    this.files.follow();
  }

  /** Never rejects. */
  async whenRead(signal: AbortSignal): Promise<void> {
    this.start();
    if (!this.files || this.isRead) return;
    await nextEvent(this.onDidChange, () => this.isRead, signal).catch(() => undefined);
  }

  problems(configured: readonly ConfiguredToolset[], passing: ReadonlySet<string>): readonly Problem[] {
    if (!this.reader) return this.own;
    const merged = this.reader.mergedTeams(this.teams());
    return [...this.own, ...merged.problems, ...this.reader.grantProblems(merged.teams, configured, passing)];
  }

  dispose(): void {
    this.files?.dispose();
    this.changes.dispose();
  }

  private async read(): Promise<void> {
    if (this.files?.all.some(({ text }) => text !== undefined)) this.reader ??= await import('../../core/team/team.js');
    const all = this.files?.all ?? [];
    this.own = all.flatMap(({ source, text }) => {
      const { team, problems } = this.reader?.parseTeam({ ...source, text }) ?? { team: undefined, problems: [] };
      if (team) this.valid.set(source.file, team);
      else if (text === undefined) this.valid.delete(source.file);
      return problems;
    });
    this.isRead = all.every(({ file }) => file.content !== undefined);
    const teams = this.reader?.mergedTeams(this.teams()).teams ?? [];
    const members = teams.flatMap((team) => team.members);
    const chosen = teams.find(({ spokesperson }) => spokesperson !== undefined)?.spokesperson;
    this.view = { teams, members, spokesperson: members.find(({ id }) => id === chosen) };
    this.changes.fire(this.view);
  }

  private teams(): Team[] {
    return this.files?.all.flatMap(({ source }) => this.valid.get(source.file) ?? []) ?? [];
  }
}
