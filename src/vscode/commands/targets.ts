/** Lists the config files for a new server: of the workspace folders and of the user. Loaded on demand. */
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
  /** The base folder of relative paths in the file. */
  readonly folder: string;
}

export interface TargetItem extends InertItem {
  readonly target: Target;
}

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
