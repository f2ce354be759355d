/**
 * Reads the lists of MCP servers as VS Code 1.139.1 does where its setting `chat.mcp.allowManagedServersOnly` is true (S1): only the
 * organisation's own list allows, and whoever denies a server, it is denied. Extensions are not told which value is the
 * organisation's, except that it counts before all others. Pure.
 */
import { isDeepStrictEqual } from 'node:util';

/** The value of a setting that counts, and those that people have set, as `inspect` of the editor gives them. */
interface InspectedSetting {
  readonly value: unknown;
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}

interface InspectedLists {
  readonly allowed: InspectedSetting;
  readonly denied: InspectedSetting;
  readonly managedOnly: boolean;
}

export function effectiveLists({ allowed, denied, managedOnly }: InspectedLists): {
  readonly allowed: unknown;
  readonly denied: unknown;
} {
  if (!managedOnly) return { allowed: allowed.value, denied: denied.value };
  const isPeoples = ownValues(allowed).some((own) => isDeepStrictEqual(own, allowed.value));
  const denials = [denied.value, ...ownValues(denied)].filter((list): list is unknown[] => Array.isArray(list));
  return {
    // Without a list of the organisation nothing is allowed.
    allowed: isPeoples || !Array.isArray(allowed.value) ? [] : allowed.value,
    denied: denials.length > 0 ? denials.flat() : denied.value,
  };
}

function ownValues({ globalValue, workspaceValue, workspaceFolderValue }: InspectedSetting): unknown[] {
  return [globalValue, workspaceValue, workspaceFolderValue].filter((value) => value !== undefined);
}
