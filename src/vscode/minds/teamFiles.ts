/**
 * Follows `.minds/team.yaml` of each folder (D2). An invalid file keeps its last team. The first
 * file loads the reader (P1).
 */
import * as vscode from 'vscode';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.js';
import { Emitter, nextEvent } from '../../core/base/events.js';
import type { Problem } from '../../core/base/problem.js';
import { teamPath, type ConfiguredToolset } from '../../core/team/grants.js';
import type { Member, Team } from '../../core/team/team.js';
import type * as teamModule from '../../core/team/team.js';
import { FollowedFiles } from '../../core/files/followedFiles.js';
import { editorSigns, folderPaths } from '../engine/configFiles.js';

export interface TeamView {
  readonly teams: readonly Team[];
  readonly members: readonly Member[];
  readonly spokesperson: Member | undefined;
}

type TeamFile = { readonly file: string; readonly folder: string };

export class TeamFiles implements vscode.Disposable {
  private readonly changes = new Emitter<TeamView>();
  private files: FollowedFiles<TeamFile> | undefined;
  private folders: vscode.Disposable | undefined;
  private reader: typeof teamModule | undefined;
  private readonly valid = new Map<string, Team>();
  /** The problems of all files, without those of grants. */
  private own: readonly Problem[] = [];
  private isRead = false;
  view: TeamView = {
    teams: [],
    members: [],
    spokesperson: undefined,
  };
  readonly onDidChange = this.changes.event;

  constructor(private readonly clock: Clock) {}

  /** Begins if the workspace is trusted. Call it again when the workspace becomes trusted. */
  start(): void {
    if (this.files || !vscode.workspace.isTrusted) return;
    const files = new FollowedFiles<TeamFile>({
      clock: this.clock,
      wanted: () => folderPaths().map((folder) => ({ file: join(folder, teamPath), folder })),
      signs: ({ file, folder }, nudge) =>
        editorSigns(file, new vscode.RelativePattern(vscode.Uri.file(folder), teamPath), nudge),
      onChange: () => void this.read(files),
    });
    this.files = files;
    this.folders = vscode.workspace.onDidChangeWorkspaceFolders(() => files.follow());
    files.follow();
  }

  /** Never rejects. */
  async whenRead(signal: AbortSignal): Promise<void> {
    this.start();
    if (!this.files || this.isRead) return;
    await nextEvent(this.onDidChange, () => this.isRead, signal).catch(() => undefined);
  }

  problems(
    configured: readonly ConfiguredToolset[],
    passing: ReadonlySet<string>,
  ): readonly Problem[] {
    if (!this.reader) return this.own;
    return [...this.own, ...this.reader.grantProblems(this.view.teams, configured, passing)];
  }

  dispose(): void {
    this.folders?.dispose();
    this.files?.dispose();
    this.changes.dispose();
  }

  private async read(files: FollowedFiles<TeamFile>): Promise<void> {
    if (files.all.some(({ text }) => text !== undefined))
      this.reader ??= await import('../../core/team/team.js');
    const { all } = files;
    const problems = all.flatMap(({ source, text }) => {
      const read = this.reader?.parseTeam({ ...source, text });
      if (read?.team) this.valid.set(source.file, read.team);
      else if (text === undefined) this.valid.delete(source.file);
      return read?.problems ?? [];
    });
    this.isRead = files.isRead;
    const valid = all.flatMap(({ source }) => this.valid.get(source.file) ?? []);
    const { teams = [], problems: shared = [] } = this.reader?.mergedTeams(valid) ?? {};
    this.own = [...problems, ...shared];
    const members = teams.flatMap((team) => team.members);
    const chosen = teams.find(({ spokesperson }) => spokesperson !== undefined)?.spokesperson;
    this.view = {
      teams,
      members,
      spokesperson: members.find(({ id }) => id === chosen),
    };
    this.changes.fire(this.view);
  }
}
