/** Decides which value of a setting counts if several scopes have one. Pure. */
import { isDeepStrictEqual } from 'node:util';

/** The values of a setting by `inspect`. The editor's types leave out the first two. */
export interface SettingValues {
  readonly globalLocalValue?: unknown;
  readonly globalRemoteValue?: unknown;
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}

/**
 * The person's own value is first (S4). All folders count, because a tool is called for the whole
 * window. A dev container can write the settings of the remote machine, which `globalValue` mixes
 * with the person's own.
 */
export function permissionsByScope(
  set: SettingValues | undefined,
  ofFolders: readonly (SettingValues | undefined)[],
): readonly unknown[] {
  const { globalRemoteValue, workspaceValue } = set ?? {};
  return [
    ownValue(set),
    globalRemoteValue,
    workspaceValue,
    ...ofFolders.map((folder) => folder?.workspaceFolderValue),
  ];
}

/** Returns the person's own value. A setting for all profiles is only in `globalValue`. */
function ownValue({
  globalLocalValue,
  globalRemoteValue,
  globalValue,
}: SettingValues = {}): unknown {
  return globalLocalValue ?? (globalRemoteValue === undefined ? globalValue : undefined);
}

/**
 * The port for agents outside the editor, or 0, and the port that a repository wants without the
 * person's consent.
 */
export interface EndpointPort {
  readonly port: number;
  readonly asked?: number;
}

/**
 * A repository can bring settings of a workspace or dev container. Their port counts only if the
 * person chose it (G6a).
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
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536
    ? value
    : 0;
}

type Lists<List> = { readonly allowed: List; readonly denied: List };

interface InspectedList extends SettingValues {
  /** The value that the editor itself uses. */
  readonly value: unknown;
}

/**
 * Returns the lists of MCP servers that VS Code 1.139.1 uses (S1b). With `managedOnly`, only the
 * organisation's list allows, and every list denies. Extensions do not learn which value is the
 * organisation's, but it counts before all others.
 */
export function effectiveLists(
  { allowed, denied }: Lists<InspectedList>,
  managedOnly: boolean,
): Lists<unknown> {
  if (!managedOnly) return { allowed: allowed.value, denied: denied.value };
  const isPeoples = ownValues(allowed).some((own) => isDeepStrictEqual(own, allowed.value));
  const denials = [denied.value, ...ownValues(denied)].filter((list): list is unknown[] =>
    Array.isArray(list),
  );
  return {
    // Without a list of the organisation, no server is allowed.
    allowed: isPeoples || !Array.isArray(allowed.value) ? [] : allowed.value,
    denied: denials.length > 0 ? denials.flat() : denied.value,
  };
}

function ownValues({
  globalValue,
  workspaceValue,
  workspaceFolderValue,
}: InspectedList): unknown[] {
  return [globalValue, workspaceValue, workspaceFolderValue].filter((value) => value !== undefined);
}
