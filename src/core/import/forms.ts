/** Finds the servers in each program's file, as `{ id, raw }`, with their settings elsewhere in the file. */
import { samePath } from '../base/paths.js';
import { isObject } from '../base/isObject.js';
import { asText } from '../base/text.js';
import { looksLikeServer } from './dialects.js';
import type { ImportFormat, ImportNote, ImportFolders } from './imported.js';
import type { Input } from './values.js';

type Table = Readonly<Record<string, unknown>>;

interface RawServer {
  readonly id: string;
  readonly raw: Table;
}

interface RawServers {
  readonly servers: readonly RawServer[];
  readonly notes: readonly ImportNote[];
  /** The inputs of VS Code, by id. */
  readonly inputs: ReadonlyMap<string, Input>;
}

const containers = ['mcpServers', 'servers'];

export function serversIn(root: Table, format: ImportFormat, folders: ImportFolders): RawServers {
  const notes: ImportNote[] = [];
  const servers = new Servers(notes);
  let inputs = new Map<string, Input>();
  switch (format) {
    case 'claude-desktop':
      servers.addTables(root, containers);
      break;
    case 'cursor':
    case 'cline':
    case 'mcprc':
      fileOfServers(root, servers, notes, []);
      break;
    case 'claude-code':
      if (isObject(root['projects'])) claudeCode(root, folders, servers, notes);
      else if (root['numStartups'] !== undefined) servers.addTables(root, containers);
      else fileOfServers(root, servers, notes, []);
      break;
    case 'vscode': {
      const { mcp } = root;
      if (isObject(mcp)) servers.addTables(mcp, containers);
      else fileOfServers(root, servers, notes, ['inputs']);
      inputs = inputsOf([...listOf(root['inputs']), ...(isObject(mcp) ? listOf(mcp['inputs']) : [])], notes);
      break;
    }
    case 'codex':
      servers.addTables(root, ['mcp_servers']);
      break;
    case 'otter': {
      const nested = isObject(root['mcp']) ? listOf(root['mcp']['servers']) : [];
      for (const [index, raw] of [...listOf(root['mcp_servers']), ...nested].entries()) {
        const { name, ...rest } = raw;
        // Otter names servers in the entry, and takes two of one name.
        servers.addOne({ id: typeof name === 'string' && name !== '' ? name : `server-${index + 1}`, raw: rest });
      }
      break;
    }
    case 'opencode':
      servers.addTables(root, ['mcp']);
      return { servers: withTools(servers.all, root['tools']), notes, inputs };
  }
  return { servers: servers.all, notes, inputs };
}

/** Collects servers. If two tables have an id, the first counts. */
class Servers {
  readonly all: RawServer[] = [];

  constructor(private readonly notes: ImportNote[]) {}

  addOne(server: RawServer): void {
    this.all.push(server);
  }

  /** @param of the owner of the servers, in a sentence @param change returns the changed server */
  addTables(table: Table, keys: readonly string[], of = '', change = (server: RawServer): RawServer => server): void {
    for (const key of keys) {
      const value = table[key];
      if (value === undefined || value === null) continue;
      if (!isObject(value)) {
        this.skip(`\`${key}\`${of}: it is not an object.`);
        continue;
      }
      for (const [id, raw] of Object.entries(value)) {
        if (id === '$schema') continue;
        if (!isObject(raw)) this.skip(`\`${id}\`${of}: it is not an object.`);
        else if (this.all.some((other) => other.id === id)) {
          this.skip(`\`${id}\` of \`${key}\`${of}: another server of that name is used.`);
        } else this.all.push(change({ id, raw }));
      }
    }
  }

  private skip(message: string): void {
    this.notes.push({ kind: 'skipped', message });
  }
}

/** Reads a file of only servers, below a key or, as for plugins and Kode, without one. */
function fileOfServers(root: Table, servers: Servers, notes: ImportNote[], known: readonly string[]): void {
  const isFlat = containers.every((key) => !isObject(root[key]) || looksLikeServer(root[key]));
  const others = Object.keys(root).filter((key) => ![...known, '$schema'].includes(key));
  if (isFlat) {
    const flat = others.filter((key) => isObject(root[key]));
    servers.addTables({ file: Object.fromEntries(flat.map((key) => [key, root[key]])) }, ['file']);
  } else servers.addTables(root, containers);
  const beside = others.filter((key) => (isFlat ? !isObject(root[key]) : !containers.includes(key)));
  for (const key of beside) {
    notes.push({ kind: 'skipped', message: `\`${key.slice(0, 64)}\` is next to the servers, but is not a server.` });
  }
}

/** `~/.claude.json` has servers of its user and of each project; the project's own come first. */
function claudeCode(root: Table, { folder }: ImportFolders, servers: Servers, notes: ImportNote[]): void {
  const note = (message: string): void => void notes.push({ kind: 'skipped', message });
  const projects = Object.entries(isObject(root['projects']) ? root['projects'] : {});
  let off: readonly unknown[] = [];
  const switchedOff = (server: RawServer): RawServer =>
    off.includes(server.id) ? { ...server, raw: { ...server.raw, disabled: true } } : server;
  for (const [project, raw] of projects) {
    if (!isObject(raw)) continue;
    if (samePath(project, folder)) {
      if (Array.isArray(raw['disabledMcpServers'])) off = raw['disabledMcpServers'];
      servers.addTables(raw, ['mcpServers'], ' of the project', switchedOff);
      for (const key of ['enabledMcpjsonServers', 'disabledMcpjsonServers']) {
        const names = Array.isArray(raw[key]) ? raw[key].map((name) => `\`${asText(name)}\``) : [];
        if (names.length > 0)
          note(`${names.join(', ')} of \`${key}\`: these are servers of \`.mcp.json\`, which is a separate file.`);
      }
    } else if (isObject(raw['mcpServers']) && Object.keys(raw['mcpServers']).length > 0) {
      const names = Object.keys(raw['mcpServers']).map((id) => `\`${id}\``);
      note(`${names.join(', ')} of the project ${project}: it is another folder.`);
    }
  }
  servers.addTables(root, ['mcpServers'], ' of the user', switchedOff);
  for (const id of off) {
    if (servers.all.some((server) => server.id === id)) continue;
    note(`\`${asText(id)}\` of \`disabledMcpServers\`: the file has no such server.`);
  }
}

function inputsOf(inputs: readonly Table[], notes: ImportNote[]): Map<string, Input> {
  if (inputs.length > 0) {
    notes.push({
      kind: 'lost',
      message: '`inputs`: each becomes a variable here, and a password becomes a secret that you enter once.',
    });
  }
  return new Map(
    inputs.map((input) => [
      asText(input['id']),
      {
        description: typeof input['description'] === 'string' ? input['description'] : '',
        isPassword: input['password'] === true,
        byDefault: typeof input['default'] === 'string' && input['password'] !== true ? input['default'] : undefined,
      },
    ]),
  );
}

/** opencode switches tools on and off beside the servers, as `<server>_<tool>` with wildcards. */
function withTools(servers: readonly RawServer[], tools: unknown): RawServer[] {
  const patterns = Object.entries(isObject(tools) ? tools : {});
  const inServer = (pattern: string, id: string): string | undefined =>
    pattern.startsWith(`${id}_`) ? pattern.slice(id.length + 1) : pattern === `${id}*` ? '*' : undefined;
  const those = (id: string, state: boolean): string[] =>
    patterns.flatMap(([pattern, on]) => (on === state ? (inServer(pattern, id) ?? []) : []));
  return servers.map(({ id, raw }) => {
    const [disabledPatterns, enabledPatterns] = [those(id, false), those(id, true)];
    return {
      id,
      raw: {
        ...raw,
        ...(disabledPatterns.length > 0 && {
          disabledPatterns,
          ...(enabledPatterns.length > 0 && { enabledPatterns }),
        }),
      },
    };
  });
}

function listOf(value: unknown): Table[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
