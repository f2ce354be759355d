/**
 * Decides what a command may start (S1, S1a). The person who types it names the folder, and so approves what the folder's
 * config files say at that moment; what is written into them later waits where the command goes on. The user's own file
 * needs no approval, except for a server that runs inside the folder, where the folder decides what a command is: that has
 * an option of its own.
 */
import { homedir } from 'node:os';
import type { Approvals } from '../core/approval/approvals.js';
import { describeLaunch, type LaunchDescription } from '../core/approval/fingerprint.js';
import { oneLine } from '../core/base/inert.js';
import { Emitter } from '../core/base/events.js';
import { ConfigState } from '../core/config/merge.js';
import type { ConfigDeps, SourceText } from '../core/config/model.js';
import { isUserFile } from '../core/config/sources.js';
import { isInsideAny } from '../core/files/realFiles.js';
import type { StatusSnapshot } from '../core/reconcile/status.js';

interface StartOptions {
  /** The absolute path of the folder that the command is about. */
  readonly folder: string;
  /** Whether servers of the user's own file may run inside the folder. */
  readonly approveCwd: boolean;
  /** What the config files say now, if nothing else may start. */
  readonly only?: { readonly sources: readonly SourceText[]; readonly deps: ConfigDeps } | undefined;
}

export class StartApprovals implements Approvals {
  private readonly known: ReadonlySet<string> | undefined;

  readonly onDidChange = new Emitter<void>().event;

  constructor(private readonly options: StartOptions) {
    const { only } = options;
    if (!only) return;
    const { servers } = new ConfigState().apply(only.sources, only.deps).model;
    this.known = new Set(
      servers.flatMap((server) => (server.kind === 'valid' ? [describeLaunch(server.definition).fingerprint] : [])),
    );
  }

  judge(launch: LaunchDescription): 'approved' | 'pending' | 'notAsked' {
    if (this.isUsersOwn(launch)) {
      const { directory } = launch;
      const isInside = directory !== undefined && isInsideAny(directory, [this.options.folder]);
      return isInside && !this.options.approveCwd ? 'pending' : 'notAsked';
    }
    if (!this.known) return 'notAsked';
    return this.known.has(launch.fingerprint) ? 'approved' : 'pending';
  }

  /** Returns a line for each server that waits. */
  waiting({ servers }: Pick<StatusSnapshot, 'servers'>): string[] {
    return servers.flatMap(({ id, approval }) =>
      approval.kind === 'pending' ? [oneLine(`${id} waits for approval: ${this.why(approval.launch)}`)] : [],
    );
  }

  private why(launch: LaunchDescription): string {
    return this.isUsersOwn(launch)
      ? `it is one of your own servers and would run in ${launch.directory}, where files of the folder may decide what it runs. Allow it with --approve-cwd.`
      : 'it was added or changed after `serve` started. Read it, then start `serve` again.';
  }

  private isUsersOwn({ source }: LaunchDescription): boolean {
    return isUserFile(source, [this.options.folder], homedir());
  }
}
