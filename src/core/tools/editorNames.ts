/**
 * Knows what the editor makes of names (G3a, measured on VS Code 1.139.1): a tool's id is
 * `mcp_<first 13 characters of serverInfo.name>_<tool>`, cut at 64, and tools are lost where two ids meet. Short names
 * without `_` make the ids unambiguous.
 */
import { createHash } from 'node:crypto';

const longestShortName = 13;
/** Both the editor and its agent host cut what is longer. */
export const longestEditorId = 64;

/** The built-in toolset, `mcp_admin`, is `admin` in the editor. */
export const adminShortName = 'admin';

/**
 * Gives each toolset id a short name, which is unique and has at most 13 of `[a-z0-9-]`. It depends on the set of ids
 * alone, never on their order or on who connects first; an id that is already short enough keeps its name whatever else
 * is configured.
 */
export function shortNames(ids: Iterable<string>): Map<string, string> {
  const taken = new Set<string>([adminShortName]);
  const names = new Map<string, string>();
  const sorted = [...new Set(ids)].sort();
  const exact = (id: string): boolean => plain(id) === id && id.length <= longestShortName;
  for (const id of [...sorted.filter(exact), ...sorted.filter((id) => !exact(id))]) {
    let name = plain(id).slice(0, longestShortName);
    for (let digits = 4; taken.has(name); digits++) {
      const hash = createHash('sha256').update(id).digest('hex').slice(0, Math.min(digits, longestShortName));
      name = `${plain(id).slice(0, Math.max(0, longestShortName - 1 - digits))}-${hash}`.slice(0, longestShortName);
    }
    taken.add(name);
    names.set(id, name);
  }
  return names;
}

function plain(id: string): string {
  return id.toLowerCase().replace(/[^a-z0-9-]/g, '-');
}

/**
 * Returns the names for the editor. Where every published name begins with `<toolset id>_` and goes on after it, the
 * editor gets the rest, because its own prefix already tells the toolset.
 */
export function editorNames(toolset: string, published: readonly string[]): string[] {
  const prefix = `${toolset}_`;
  const strip = published.every((name) => name.startsWith(prefix) && name.length > prefix.length);
  return strip ? published.map((name) => name.slice(prefix.length)) : [...published];
}

/** Returns the name that agent-host sessions of the editor make of a tool (measured on VS Code 1.139.1). */
export function agentHostName(toolset: string, editorName: string): string {
  return `${toolset}-${editorName}`;
}

export function editorId(shortName: string, editorName: string): string {
  return `mcp_${shortName}_${editorName}`;
}
