/** What `inspect` tells of a setting. The editor's types leave out the first two, and older editors do not tell them. */
export interface SettingValues {
  readonly globalLocalValue?: unknown;
  readonly globalRemoteValue?: unknown;
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}

/**
 * Returns the values of all scopes, the person's own first (S4). The settings of the remote machine are not the person's:
 * a dev container, which the workspace describes, sets them, and `globalValue` is a mixture of both.
 */
export function permissionsByScope(set: SettingValues | undefined): readonly unknown[] {
  const { globalLocalValue, globalRemoteValue, globalValue, workspaceValue, workspaceFolderValue } = set ?? {};
  const isTold = set !== undefined && ('globalLocalValue' in set || 'globalRemoteValue' in set);
  return [isTold ? globalLocalValue : globalValue, globalRemoteValue, workspaceValue, workspaceFolderValue];
}
