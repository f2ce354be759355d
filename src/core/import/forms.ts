/**
 * Finds the servers in a file, as `{ id, raw }`, and the settings for them in other parts of the
 * file.
 */
import { english } from '../base/language.js';
import { samePath } from '../base/paths.js';
import { asFields, asList, isObject } from '../base/isObject.js';
import { asText, commaList } from '../base/text.js';
import { dialects, looksLikeServer, unknownProgram, type Dialect, type Table } from './dialects.js';
import type { ImportFolders, ImportNote } from './imported.js';
import type { Input } from './values.js';

export type RawServer = Readonly<{ id: string; raw: Table }>;

/** `isKnown` is false if the file has nothing like servers. */
export function serversIn(root: Table, dialect: Dialect, folders: ImportFolders) {
  const notes: ImportNote[] = [];
  const servers: RawServer[] = [];
  const add = (value: unknown, place: string): void => addServers(servers, notes, value, place);
  const places = placesIn(root, dialect, notes);
  let off: readonly unknown[] = [];
  if (dialect === dialects['claude-code'] && isObject(root['projects'])) {
    off = claudeCode(root, folders, servers, notes);
  } else if (places.length > 0) {
    for (const place of places) {
      const isAround = places.some((other) => other.startsWith(`${place}/`));
      for (const value of valuesAt(root, place.split('/'))) {
        add(isAround ? serversAmong(value) : value, `\`${place}\``);
      }
    }
  } else {
    add(
      Object.fromEntries(Object.entries(root).filter(([, value]) => isObject(value))),
      'the file',
    );
  }
  const known = ['$schema', 'inputs', ...places.map((place) => place.split('/')[0])];
  const hasOthers = dialect.hasSettings || root['numStartups'] !== undefined;
  for (const [key, value] of hasOthers ? [] : Object.entries(root)) {
    if (known.includes(key) || (places.length === 0 && isObject(value))) continue;
    notes.push({
      kind: 'skipped',
      message: english`\`${key.slice(0, 64)}\` is next to the servers, but is not a server.`,
    });
  }
  for (const key of dialect.beside.filter((each) => valueAt(root, each) !== undefined)) {
    const name = key.replaceAll('/', '.');
    notes.push({
      kind: 'lost',
      message: english`\`${name}\` is next to the servers, and is not carried over.`,
    });
  }
  const besides = places.map((place) => place.replace(/[^/]*$/, 'inputs'));
  const written = [...new Set(['inputs', ...besides])]
    .flatMap((place) => valuesAt(root, place.split('/')))
    .flat();
  return {
    servers: withTools(withSwitches(servers, root, off), root),
    notes,
    isKnown: places.length > 0 || Object.values(root).some(looksLikeServer),
    inputs: inputsOf(written.filter(isObject), notes),
  };
}

/** Returns the keys above the servers. The list is empty if the file itself is a map of servers. */
function placesIn(root: Table, dialect: Dialect, notes: ImportNote[]): readonly string[] {
  const own = dialect.at.filter((place) => {
    const value = valueAt(root, place);
    return value !== undefined && value !== null && !looksLikeServer(value);
  });
  if (dialect !== unknownProgram && own.length > 0) return own;
  // People also write the form of another program into the file.
  const [first, ...more] = unknownProgram.at.filter((place) => holdsServers(valueAt(root, place)));
  for (const place of more.filter(
    (other) => first !== undefined && !first.startsWith(`${other}/`),
  )) {
    notes.push({
      kind: 'skipped',
      message: english`\`${place}\`: \`${first ?? ''}\` has servers too, and is used.`,
    });
  }
  return first === undefined ? own.filter((place) => place === 'mcpServers') : [first];
}

function valueAt(root: Table, place: string): unknown {
  return valuesAt(root, place.split('/'))[0];
}

/** Settings of the editor may join keys by dots, as in `mcp.servers`. */
function valuesAt(holder: unknown, keys: readonly string[]): unknown[] {
  if (keys.length === 0) return [holder];
  return keys.flatMap((_, index) => {
    const value = asFields(holder)[keys.slice(0, index + 1).join('.')];
    return value === undefined ? [] : valuesAt(value, keys.slice(index + 1));
  });
}

function serversAmong(value: unknown): Table {
  return Object.fromEntries(
    Object.entries(asFields(value)).filter(([, entry]) => looksLikeServer(entry)),
  );
}

function holdsServers(value: unknown): boolean {
  if (looksLikeServer(value)) return false;
  const entries: unknown[] = Array.isArray(value) ? value : Object.values(asFields(value));
  return entries.some((entry) => looksLikeServer(flattened(entry)));
}

/**
 * Returns an entry without inner objects: Zed, Continue, Goose and opencode have them for parts of
 * an entry.
 */
function flattened(entry: unknown): Table {
  if (!isObject(entry)) return {};
  const { config, transport, requestOptions, command, timeout, ...rest } = entry;
  const times = Object.entries(asFields(timeout)).map(([key, ms]) => [`timeout.${key}`, ms]);
  const { path, ...more } = isObject(command) ? command : { path: command };
  return {
    ...(isObject(config) ? config : { config }),
    ...(isObject(transport) ? transport : { transport }),
    ...(isObject(requestOptions) ? requestOptions : { requestOptions }),
    ...(path !== undefined && { command: path }),
    ...(isObject(timeout) || timeout === undefined ? Object.fromEntries(times) : { timeout }),
    ...more,
    ...rest,
  };
}

function addServers(all: RawServer[], notes: ImportNote[], value: unknown, place: string): void {
  const skip = (message: string): void => void notes.push({ kind: 'skipped', message });
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) {
      const number = all.length + 1;
      const { name, ...raw }: Table = asFields(item);
      const id = typeof name === 'string' && name !== '' ? name : `server-${number}`;
      if (isObject(item)) {
        all.push({ id, raw: flattened(raw) });
      } else {
        skip(english`item ${number} of ${place}: it is not an object.`);
      }
    }
  } else if (isObject(value)) {
    for (const [id, raw] of Object.entries(value)) {
      if (id === '$schema') continue;
      if (!isObject(raw)) {
        skip(english`\`${id}\` of ${place}: it is not an object.`);
      } else if (all.some((other) => other.id === id)) {
        skip(english`\`${id}\` of ${place}: another server of that name is used.`);
      } else {
        all.push({ id, raw: flattened(raw) });
      }
    }
  } else {
    skip(english`${place}: it is not an object.`);
  }
}

/**
 * Reads `~/.claude.json`. The servers of this project come before those of the user. Returns those
 * that are off.
 */
function claudeCode(
  root: Table,
  { folder }: ImportFolders,
  servers: RawServer[],
  notes: ImportNote[],
): unknown[] {
  const note = (message: string): void => void notes.push({ kind: 'skipped', message });
  let off: unknown[] = [];
  for (const [project, raw] of Object.entries(asFields(root['projects']))) {
    if (!isObject(raw)) continue;
    if (samePath(project, folder)) {
      if (Array.isArray(raw['disabledMcpServers'])) {
        off = raw['disabledMcpServers'];
      }
      addServers(servers, notes, raw['mcpServers'], '`mcpServers` of the project');
      for (const key of ['enabledMcpjsonServers', 'disabledMcpjsonServers']) {
        const names = Array.isArray(raw[key]) ? raw[key].map((name) => `\`${asText(name)}\``) : [];
        if (names.length > 0) {
          note(
            english`${commaList(names)} of \`${key}\`: these are servers of \`.mcp.json\`, which is a separate file.`,
          );
        }
      }
    } else if (isObject(raw['mcpServers']) && Object.keys(raw['mcpServers']).length > 0) {
      const names = Object.keys(raw['mcpServers']).map((id) => `\`${id}\``);
      note(english`${commaList(names)} of the project ${project}: it is another folder.`);
    }
  }
  addServers(servers, notes, root['mcpServers'], '`mcpServers` of the user');
  for (const id of off) {
    if (servers.some((server) => server.id === id)) continue;
    note(english`\`${asText(id)}\` of \`disabledMcpServers\`: the file has no such server.`);
  }
  return off;
}

function inputsOf(inputs: readonly Table[], notes: ImportNote[]): Map<string, Input> {
  if (inputs.length > 0) {
    const hasPassword = inputs.some(({ password }) => password === true);
    const message = hasPassword
      ? '`inputs`: each becomes a variable here, and a password becomes a secret that you enter once.'
      : '`inputs`: each becomes a variable here.';
    notes.push({ kind: 'lost', message });
  }
  return new Map(inputs.map((input) => [asText(input['id']), inputOf(input)]));
}

function inputOf({ description, password, default: given }: Table): Input {
  const isPassword = password === true;
  const byDefault = typeof given === 'string' && !isPassword ? given : undefined;
  return {
    description: typeof description === 'string' ? description : '',
    isPassword,
    byDefault,
  };
}

/** Gemini CLI and Qwen Code allow and exclude servers in `mcp`. */
function withSwitches(
  servers: readonly RawServer[],
  { mcp }: Table,
  off: readonly unknown[],
): RawServer[] {
  const { allowed, excluded } = asFields(mcp);
  return servers.map((server) => {
    const isIn = (list: unknown): boolean => Array.isArray(list) && list.includes(server.id);
    const isNotAllowed = Array.isArray(allowed) && !isIn(allowed);
    const isOff = isIn(off) || isIn(excluded) || isNotAllowed;
    if (!isOff) return server;
    const raw = { ...server.raw, disabled: true };
    return { ...server, raw };
  });
}

/**
 * opencode switches tools on and off next to the servers, as `<server>_<tool>` with wildcards. Amp
 * switches them off.
 */
function withTools(
  servers: readonly RawServer[],
  { tools, 'amp.tools.disable': off }: Table,
): RawServer[] {
  const names: readonly unknown[] = asList(off);
  const patterns: readonly (readonly [string, unknown])[] = [
    ...Object.entries(asFields(tools)),
    ...names.map((name) => [asText(name).replace(/^mcp__(.+?)__/, '$1_'), false] as const),
  ];
  const those = (id: string, state: boolean): string[] =>
    patterns.flatMap(([pattern, on]) => {
      if (on !== state) return [];
      return patternIn(id, pattern) ?? [];
    });
  return servers.map(({ id, raw }) => {
    const disabledPatterns = those(id, false);
    const enabledPatterns = those(id, true);
    if (disabledPatterns.length === 0) return { id, raw };
    return {
      id,
      raw: {
        ...raw,
        disabledPatterns,
        ...(enabledPatterns.length > 0 && { enabledPatterns }),
      },
    };
  });
}

/** Returns the part of a pattern behind the name of a server, if the pattern is about its tools. */
function patternIn(server: string, pattern: string): string | undefined {
  if (pattern === `${server}*`) return '*';
  const prefix = `${server}_`;
  if (!pattern.startsWith(prefix)) return undefined;
  return pattern.slice(prefix.length);
}
