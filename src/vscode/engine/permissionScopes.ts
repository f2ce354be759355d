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
  const { globalRemoteValue, workspaceValue } = set ?? {};
  return [ownValue(set), globalRemoteValue, workspaceValue, ...ofFolders.map((folder) => folder?.workspaceFolderValue)];
}

/** Returns the person's own value. If the person applies it to all profiles, only `globalValue` has it. */
function ownValue({ globalLocalValue, globalRemoteValue, globalValue }: SettingValues = {}): unknown {
  return globalLocalValue ?? (globalRemoteValue === undefined ? globalValue : undefined);
}

/** The port for agents outside the editor, or 0, and the port that a repository asks for without the person's consent. */
export interface EndpointPort {
  readonly port: number;
  readonly asked?: number;
}

/**
 * Returns the port that counts (G6). A repository can bring the settings of a workspace and of a dev container along, so the port there
 * counts only if the person chose it in this workspace.
 *
 * @param chosen the port that the person chose here, as it was stored
 */
export function endpointPortOf(set: SettingValues | undefined, chosen: unknown): EndpointPort {
  const own = asPort(ownValue(set));
  const { workspaceFolderValue, workspaceValue, globalRemoteValue } = set ?? {};
  const given = workspaceFolderValue ?? workspaceValue ?? globalRemoteValue;
  if (given === undefined) return { port: own };
  const port = asPort(given);
  return port === 0 || port === own || port === chosen ? { port } : { port: own, asked: port };
}

function asPort(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536 ? value : 0;
}
