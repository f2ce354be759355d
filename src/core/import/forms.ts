/** Where each program keeps its servers in its file, as `{ id, raw }`, and what it says of them elsewhere in the file. */
import { samePath } from '../base/paths.js';
import { isObject } from '../base/isObject.js';
import type { ImportFormat, ImportNote, ImportSurroundings } from './imported.js';

type Table = Readonly<Record<string, unknown>>;

interface RawServer {
  readonly id: string;
  readonly raw: Table;
}

interface RawServers {
  readonly servers: readonly RawServer[];
  readonly notes: readonly ImportNote[];
  /** Of `inputs` of VS Code: what a person is asked for, by id. */
  readonly inputs: ReadonlyMap<string, string>;
}

export function serversIn(root: Table, format: ImportFormat, around: ImportSurroundings): RawServers {
  const plain = (servers: RawServer[], notes: ImportNote[] = []): RawServers => ({ servers, notes, inputs: new Map() });
  switch (format) {
    case 'claude-desktop':
    case 'cursor':
    case 'cline':
      return plain(tableOf(root['mcpServers']));
    case 'claude-code':
      return claudeCode(root, around);
    case 'vscode':
      return {
        servers: tableOf(root['servers'] ?? root['mcpServers']),
        notes: [],
        inputs: new Map(listOf(root['inputs']).map((input) => [String(input['id']), textOf(input['description'])])),
      };
    case 'mcprc':
      return plain(tableOf(root['mcpServers'] ?? root));
    case 'codex':
      return plain(tableOf(root['mcp_servers']));
    case 'otter': {
      const nested = isObject(root['mcp']) ? listOf(root['mcp']['servers']) : [];
      const all = [...listOf(root['mcp_servers']), ...nested];
      return plain(all.map((raw, index) => ({ id: textOf(raw['name']) || `server-${index + 1}`, raw })));
    }
    case 'opencode':
      return opencode(root);
  }
}

/** `~/.claude.json` has servers of its user and of each project; the project's own come first. */
function claudeCode(root: Table, { folder }: ImportSurroundings): RawServers {
  const notes: ImportNote[] = [];
  const servers: RawServer[] = [];
  for (const [project, raw] of Object.entries(isObject(root['projects']) ? root['projects'] : {})) {
    if (!isObject(raw)) continue;
    const own = tableOf(raw['mcpServers']);
    if (samePath(project, folder)) {
      const off = Array.isArray(raw['disabledMcpServers']) ? raw['disabledMcpServers'] : [];
      servers.push(
        ...own.map((each) => (off.includes(each.id) ? { ...each, raw: { ...each.raw, disabled: true } } : each)),
      );
    } else if (own.length > 0) {
      const names = own.map(({ id }) => `\`${id}\``).join(', ');
      notes.push({ kind: 'skipped', message: `${names} of the project ${project}: it is another folder.` });
    }
  }
  for (const each of tableOf(root['mcpServers'])) {
    if (!servers.some(({ id }) => id === each.id)) servers.push(each);
    else notes.push({ kind: 'skipped', message: `\`${each.id}\` of the user: the project has a server of that name.` });
  }
  return { servers, notes, inputs: new Map() };
}

/** The tools that are switched off stand beside the servers, as `<server>_<tool>` with wildcards. */
function opencode(root: Table): RawServers {
  const servers = tableOf(root['mcp']);
  const off = Object.entries(isObject(root['tools']) ? root['tools'] : {}).filter(([, on]) => on === false);
  const inServer = (pattern: string, id: string): string | undefined =>
    pattern.startsWith(`${id}_`) ? pattern.slice(id.length + 1) : pattern === `${id}*` ? '*' : undefined;
  return {
    servers: servers.map(({ id, raw }) => {
      const disabledTools = off.flatMap(([pattern]) => inServer(pattern, id) ?? []);
      return { id, raw: disabledTools.length > 0 ? { ...raw, disabledPatterns: disabledTools } : raw };
    }),
    notes: [],
    inputs: new Map(),
  };
}

function tableOf(value: unknown): RawServer[] {
  return Object.entries(isObject(value) ? value : {})
    .filter(([id]) => id !== '$schema')
    .map(([id, raw]) => ({ id, raw: isObject(raw) ? raw : {} }));
}

function listOf(value: unknown): Table[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
