/** Follows `.minds/team.yaml` of each folder (D2). An invalid file keeps its last team. The first file loads the reader (P1). */
import * as vscode from 'vscode';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { Emitter, nextEvent } from '../../core/base/events.js';
import type { Problem } from '../../core/base/problem.js';
import { teamPath, type ConfiguredToolset } from '../../core/team/grants.js';
import type { Member, Team } from '../../core/team/team.js';
import type * as teamModule from '../../core/team/team.js';
import { followFile, localFolders } from '../engine/configFiles.js';

export interface TeamView {
  /** The last valid teams in the order of the folders. An id occurs once in all of them. */
  readonly teams: readonly Team[];
  readonly members: readonly Member[];
  /** The member who answers without a choice. */
  readonly spokesperson: Member | undefined;
}

interface FolderTeam {
  readonly folder: string;
  readonly store: DisposableStore;
  team: Team | undefined;
  /** Undefined until the file was read. */
  problems: readonly Problem[] | undefined;
  reading: number;
}

export class TeamFiles implements Disposable {
  private readonly store = new DisposableStore('team files');
  private readonly changes = this.store.add(new Emitter<TeamView>());
  private readonly files = new Map<string, FolderTeam>();
  private reader: typeof teamModule | undefined;
  private begun = false;
  view: TeamView = { teams: [], members: [], spokesperson: undefined };
  readonly onDidChange = this.changes.event;

  constructor(private readonly clock: Clock) {}

  /** Begins if the workspace is trusted. Call it again when the workspace becomes trusted. */
  start(): void {
    if (this.begun || !vscode.workspace.isTrusted) return;
    this.begun = true;
    this.store.add(vscode.workspace.onDidChangeWorkspaceFolders(() => this.follow()));
    this.follow();
  }

  /** Never rejects. */
  async whenRead(signal: AbortSignal): Promise<void> {
    this.start();
    if (!this.isRead()) await nextEvent(this.onDidChange, () => this.isRead(), signal).catch(() => undefined);
  }

  problems(configured: readonly ConfiguredToolset[], passing: ReadonlySet<string>): readonly Problem[] {
    const teams = this.opened();
    const own = teams.flatMap(({ problems = [] }) => problems);
    if (!this.reader) return own;
    const merged = this.reader.mergedTeams(teams.flatMap(({ team }) => team ?? []));
    return [...own, ...merged.problems, ...this.reader.grantProblems(merged.teams, configured, passing)];
  }

  dispose(): void {
    this.store.dispose();
  }

  private follow(): void {
    const folders = localFolders();
    const wanted = new Set(folders.map(({ uri }) => uri.toString()));
    for (const [key, { store }] of this.files) {
      if (wanted.has(key)) continue;
      this.files.delete(key);
      this.store.release(store);
    }
    for (const folder of folders) {
      if (!this.files.has(folder.uri.toString())) this.open(folder);
    }
    this.tell();
  }

  private open(folder: vscode.WorkspaceFolder): void {
    const store = this.store.add(new DisposableStore(`team of ${folder.name}`));
    const pattern = new vscode.RelativePattern(folder, teamPath);
    const file = followFile(join(folder.uri.fsPath, teamPath), pattern, { clock: this.clock, store });
    const opened: FolderTeam = {
      folder: folder.uri.fsPath,
      store,
      team: undefined,
      problems: undefined,
      reading: 0,
    };
    this.files.set(folder.uri.toString(), opened);
    store.add(
      file.onDidChange((content) => {
        // An unreadable file keeps its last team.
        if (content.kind === 'unreadable') {
          opened.problems ??= [];
          this.tell();
        } else void this.read(opened, file.path, content.kind === 'text' ? content.text : undefined);
      }),
    );
  }

  private async read(opened: FolderTeam, file: string, text: string | undefined): Promise<void> {
    const reading = ++opened.reading;
    if (text !== undefined) this.reader ??= await import('../../core/team/team.js');
    if (reading !== opened.reading) return; // A later one has begun.
    const parsed = text === undefined ? undefined : this.reader?.parseTeam({ file, folder: opened.folder, text });
    opened.problems = parsed?.problems ?? [];
    opened.team = text === undefined ? undefined : (parsed?.team ?? opened.team);
    this.tell();
  }

  private isRead(): boolean {
    return !this.begun || [...this.files.values()].every(({ problems }) => problems !== undefined);
  }

  private opened(): FolderTeam[] {
    return localFolders().flatMap(({ uri }) => this.files.get(uri.toString()) ?? []);
  }

  private tell(): void {
    const own = this.opened().flatMap(({ team }) => team ?? []);
    const teams = this.reader?.mergedTeams(own).teams ?? [];
    const members = teams.flatMap((team) => team.members);
    const chosen = teams.find(({ spokesperson }) => spokesperson !== undefined)?.spokesperson;
    this.view = { teams, members, spokesperson: members.find(({ id }) => id === chosen) };
    this.changes.fire(this.view);
  }
}
