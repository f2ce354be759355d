/**
 * Lists the config files that a new server can go to: those of the workspace folders and the user's own. This module is
 * loaded when it is first needed.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Icon, inert } from '../../core/base/inert.js';
import { userFile } from '../../core/config/sources.js';
import type { InertItem } from '../views/inertEditor.js';
import { configPath, localFolders } from '../engine/configFiles.js';

export interface Target {
  readonly file: string;
  /** The folder that nothing written may leave. */
  readonly root: string;
  /** The folder at which relative paths of the file begin. */
  readonly folder: string;
}

export interface TargetItem extends InertItem {
  readonly target: Target;
}

/** Returns the folders first. */
export function targetItems(): TargetItem[] {
  const folders = localFolders().map(({ name, uri }) => ({
    label: inert`${new Icon('folder')} ${name}`,
    description: inert`${configPath}`,
    detail: inert`For everyone who works in this folder`,
    target: { file: join(uri.fsPath, configPath), root: uri.fsPath, folder: uri.fsPath },
  }));
  const home = homedir();
  const own = {
    label: inert`${new Icon('account')} You`,
    description: inert`~/${configPath}`,
    detail: inert`For you, in every window`,
    target: { file: userFile(home), root: home, folder: localFolders()[0]?.uri.fsPath ?? home },
  };
  return [...folders, own];
}
