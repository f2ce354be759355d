/**
 * Decides what `serve` may start (S1): what the config files said when a person typed the command, and nothing that was
 * written into them later. The user's own file needs no approval, as in the editor.
 */
import { homedir } from 'node:os';
import type { Approvals } from '../core/approval/approvals.js';
import { describeLaunch, type LaunchDescription } from '../core/approval/fingerprint.js';
import { Emitter } from '../core/base/events.js';
import { ConfigState } from '../core/config/merge.js';
import type { ConfigDeps, SourceText } from '../core/config/model.js';
import { isUserFile } from '../core/config/sources.js';

export class StartApprovals implements Approvals {
  private readonly known: ReadonlySet<string>;

  readonly onDidChange = new Emitter<void>().event;

  constructor(
    sources: readonly SourceText[],
    deps: ConfigDeps,
    private readonly folder: string,
  ) {
    const { servers } = new ConfigState().apply(sources, deps).model;
    this.known = new Set(
      servers.flatMap((server) => (server.kind === 'valid' ? [describeLaunch(server.definition).fingerprint] : [])),
    );
  }

  judge({ fingerprint, source }: LaunchDescription): 'approved' | 'pending' | 'notAsked' {
    if (isUserFile(source, [this.folder], homedir())) return 'notAsked';
    return this.known.has(fingerprint) ? 'approved' : 'pending';
  }
}
