/** What `inspect` tells of a setting. The editor's types leave out the first two, and older editors do not tell them. */
export interface SettingValues {
  readonly globalLocalValue?: unknown;
  readonly globalRemoteValue?: unknown;
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}

/**
 * Returns the values of all scopes, the person's own first (S4), and those of each folder of the workspace last, because a
 * tool is called for the whole window. The settings of the remote machine are not the person's:
 * a dev container, which the workspace describes, sets them, and `globalValue` is a mixture of both.
 */
export function permissionsByScope(
  set: SettingValues | undefined,
  ofFolders: readonly (SettingValues | undefined)[],
): readonly unknown[] {
  const { globalLocalValue, globalRemoteValue, globalValue, workspaceValue } = set ?? {};
  // What a person applies to all their profiles is told as `globalValue` alone.
  const own = globalLocalValue ?? (globalRemoteValue === undefined ? globalValue : undefined);
  return [own, globalRemoteValue, workspaceValue, ...ofFolders.map((folder) => folder?.workspaceFolderValue)];
}
