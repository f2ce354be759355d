/**
 * The editor's names (G3a, measured on VS Code 1.139.1): a tool's id is `mcp_<first 13 characters
 * of serverInfo.name>_<tool>`, cut at 64. Tools with equal ids are lost. Short names without `_`
 * make the ids unambiguous.
 */
import { createHash } from 'node:crypto';

const longestShortName = 13;
export const longestEditorId = 64;

export const adminShortName = 'admin';

const mostGiven = 1000;

/**
 * Gives each toolset id a short, unique name that stays with it. Names given at once depend only on
 * the set of ids.
 */
export class ShortNames {
  private readonly given = new Map<string, string>();

  of(ids: Iterable<string>): ReadonlyMap<string, string> {
    const wanted = new Set(ids);
    if (this.given.size > mostGiven)
      for (const id of this.given.keys()) if (!wanted.has(id)) this.given.delete(id);
    const added = [...wanted].filter((id) => !this.given.has(id)).sort();
    const taken = new Set([adminShortName, ...this.given.values()]);
    const exact = (id: string) => plain(id) === id && id.length <= longestShortName;
    for (const id of [...added.filter(exact), ...added.filter((id) => !exact(id))]) {
      let name = plain(id).slice(0, longestShortName);
      // Each attempt has another hash, because an attacker who chooses the ids can compute one, and
      // not all of them.
      for (let attempt = 0; taken.has(name); attempt++) name = hashedName(id, attempt);
      taken.add(name);
      this.given.set(id, name);
    }
    return new Map([...wanted].map((id) => [id, this.given.get(id) ?? id]));
  }
}

function hashedName(id: string, attempt: number): string {
  const digits = Math.min(4 + attempt, longestShortName - 1);
  const hash = createHash('sha256')
    .update(attempt === 0 ? id : `${id} ${attempt}`)
    .digest('hex')
    .slice(0, digits);
  return `${plain(id).slice(0, longestShortName - 1 - digits)}-${hash}`;
}

function plain(id: string): string {
  return id.toLowerCase().replace(/[^a-z0-9-]/g, '-');
}

/**
 * Takes `<toolset id>_` off if every name has it, because the editor's own prefix already names the
 * toolset.
 */
export function editorNames(toolset: string, published: readonly string[]): string[] {
  const prefix = `${toolset}_`;
  const strip = published.every((name) => name.startsWith(prefix) && name.length > prefix.length);
  return strip ? published.map((name) => name.slice(prefix.length)) : [...published];
}

export function agentHostName(toolset: string, editorName: string): string {
  return `${toolset}-${editorName}`;
}

export function editorId(shortName: string, editorName: string): string {
  return `mcp_${shortName}_${editorName}`;
}
