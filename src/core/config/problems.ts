/**
 * Makes the problems of config files, with one factory for each code. Each names the finding, the expectation and the
 * next step. Possible secrets (in `env`, `headers`, `url`, `sessionId`) never become part of a text.
 */
import type { Place, Problem, ProblemCode, Severity } from '../base/problem.js';
import { startOfFile } from './model.js';
import { withoutSecrets } from '../base/secrets.js';
import { clipped } from '../base/text.js';
import { keysOf, suggestKey, suggestTransports, type KeyLevel } from './keys.js';
import { argumentSyntaxes, foreignReference, type ForeignReference } from './foreignReferences.js';

export interface Spot {
  readonly place: Place;
  readonly server?: string;
}

export function problem(
  code: ProblemCode,
  severity: Severity,
  spot: Spot,
  message: string,
  fix: string,
  related?: Problem['related'],
): Problem {
  return { code, severity, message, fix, ...spot, ...(related && { related }) };
}

export const firstEntry = (place: Place): Problem['related'] => [{ message: 'The first entry is here.', place }];

export function versionMissing(spot: Spot): Problem {
  const message = 'The file does not say its `version`.';
  return problem('version-missing', 'error', spot, message, 'Write `version: 1` as the first line.');
}

export function rootNotAMap(spot: Spot, found: string): Problem {
  const message = `The file is ${found}; expected a map with \`version\` and \`servers\`.`;
  return problem('version-missing', 'error', spot, message, 'Begin the file with `version: 1` and a map `servers:`.');
}

export function versionUnsupported(spot: Spot, found: string): Problem {
  const message = `\`version\` is ${found}; only the number 1 is supported.`;
  return problem('version-unsupported', 'error', spot, message, 'Write `version: 1`, without quotes.');
}

export function serversNotAMap(spot: Spot, found: string): Problem {
  const message = `\`servers\` is ${found}; expected a map from server ids to their settings.`;
  const fix = 'Write each server as a separate key under `servers:`, for example `search:` with its settings below it.';
  return problem('servers-not-a-map', 'error', spot, message, fix);
}

export function duplicateServer(spot: Spot, id: string, first: Place): Problem {
  const message = `Server id \`${shortened(id)}\` is used twice in this file.`;
  const fix = 'Rename or remove one of the two entries.';
  return problem('duplicate-server', 'error', spot, message, fix, firstEntry(first));
}

export function jsonSyntax(spot: Spot, what: string): Problem {
  const fix = 'Write JSON; comments and commas at the end are allowed.';
  return problem('json-syntax', 'error', spot, `The file is not JSON: ${what}.`, fix);
}

export function jsonRootNotAMap(spot: Spot, found: string, what = 'The file'): Problem {
  const message = `${what} is ${found}; expected an object from server ids to their settings.`;
  const fix = 'Write `{ "mcpServers": { … } }`, or the servers themselves in one object.';
  return problem('servers-not-a-map', 'error', spot, message, fix);
}

export function keyBesideServers(spot: Spot, found: string): Problem {
  const message = `\`${shortened(found)}\` is next to \`mcpServers\`, where it has no effect.`;
  return problem('unknown-key', 'warning', spot, message, 'Move it into `mcpServers` if it is a server, or remove it.');
}

export function problemsLeftOut(file: string, count: number): Problem {
  const message = `The file has ${count.toLocaleString('en-US')} more problems, which are not shown.`;
  const fix = 'Correct the problems that are shown. Begin with the values that aliases refer to.';
  return problem('problems-left-out', 'warning', { place: { file, range: startOfFile } }, message, fix);
}

export function tooManyServers(spot: Spot, count: number, most: number): Problem {
  const message = `The file has ${count.toLocaleString('en-US')} servers; only the first ${most} are read.`;
  return problem('too-many-servers', 'error', spot, message, 'Remove the servers that you do not need.');
}

export function serverIdInvalid(spot: Spot, id: string): Problem {
  const why =
    id.length > 64
      ? `has ${id.length} characters; at most 64 are allowed`
      : 'may hold only ASCII letters, digits, `_` and `-`, at least one of them';
  const message = `Server id \`${shortened(id)}\` ${why}.`;
  return problem('server-id-invalid', 'error', spot, message, 'Rename the server to match ^[a-zA-Z0-9_-]{1,64}$.');
}

export function serverIdReserved(spot: Spot, id: string): Problem {
  const message = `Server id \`${id}\` is the id of a built-in toolset.`;
  return problem('server-id-invalid', 'error', spot, message, 'Rename the server.');
}

/** @param written the keys beside it, so the fix makes no duplicate */
export function unknownKey(spot: Spot, level: KeyLevel, found: string, written: ReadonlyMap<string, unknown>): Problem {
  const known = keysOf(level);
  const said = `Unknown key \`${shortened(found)}\``;
  const suggestion = suggestKey(level, found);
  if (suggestion === undefined) {
    if (level === 'server' && found.toLowerCase() === 'disabled') {
      const message = `${said}: the key is \`enabled\`, with the opposite value.`;
      return problem('unknown-key', 'warning', spot, message, 'Write `enabled: false` if the server must not start.');
    }
    const message = `${said}; known keys: ${known.map((key) => `\`${key}\``).join(', ')}.`;
    return problem('unknown-key', 'warning', spot, message, 'Remove the key, or write one of the known ones.');
  }
  const message = `${said}; did you mean \`${suggestion}\`?`;
  const fix = written.has(suggestion)
    ? `Remove the key: \`${suggestion}\` is written already.`
    : `Rename it to \`${suggestion}\`.`;
  return { ...problem('unknown-key', 'warning', spot, message, fix), instead: suggestion };
}

export function keyNotUsed(spot: Spot, key: string): Problem {
  const message = `\`${key}\` is not used here.`;
  return problem('key-not-used', 'information', spot, message, 'Leave it for the program that reads it.');
}

export function transformNotUsed(spot: Spot): Problem {
  const message = '`transform` is not used here, because `tools.transform` replaces it.';
  return problem('key-not-used', 'information', spot, message, 'Leave it for the program that reads it, or remove it.');
}

export function duplicateKey(spot: Spot, key: string, first: Place, ignoringCase = false): Problem {
  const message = ignoringCase
    ? `\`${shortened(key)}\` is written twice: the names of headers ignore case.`
    : `Key \`${shortened(key)}\` is written twice in one map.`;
  const related = [{ message: 'It is first written here.', place: first }];
  return problem('duplicate-key', 'error', spot, message, 'Remove one of the two.', related);
}

export function keyNotForTransport(spot: Spot, key: string, belongsTo: string, transport: string): Problem {
  const message = `\`${key}\` belongs to transport \`${belongsTo}\` and has no effect with \`${transport}\`.`;
  const fix = `Remove \`${key}\`, or write \`transport: ${belongsTo}\`.`;
  return problem('key-not-for-transport', 'warning', spot, message, fix);
}

/** @param owner the subject of the sentence, e.g. ``Server `search` ``. */
export function missingKey(spot: Spot, owner: string, key: string, example: string): Problem {
  return problem('missing-key', 'error', spot, `${owner} has no \`${key}\`.`, `Add \`${example}\`.`);
}

/** @param what the key or the list item, e.g. `` `args` `` or ``An item of `args` `` */
export function wrongType(spot: Spot, what: string, expected: string, found: string, fix: string): Problem {
  return problem('wrong-type', 'error', spot, `${what} must be ${expected}; found ${found}.`, fix);
}

export function badMerge(spot: Spot, found: string): Problem {
  const message = `The merge key \`<<\` takes a map, an alias of a map, or a list of those; found ${found}.`;
  const fix = 'Refer to a map, for example `<<: *defaults`, or remove the key.';
  return problem('wrong-type', 'error', spot, message, fix);
}

export function patternBlank(spot: Spot, list: string): Problem {
  const message = `A pattern of \`${list}\` is blank and is ignored.`;
  return problem('pattern-blank', 'warning', spot, message, 'Remove it, or write the name of a tool; `*` is any text.');
}

export function commandWithArguments(spot: Spot): Problem {
  const message = '`command` names one program, which is started without a shell; its arguments belong in `args`.';
  const fix =
    "Keep only the program in `command`, and write each argument as an item of `args`, for example `args: ['-y', some-server]`.";
  return problem('command-with-arguments', 'error', spot, message, fix);
}

export function commandIsAddress(spot: Spot): Problem {
  const fix = 'Write `transport: streamable_http` and the address as `url`, and remove `command` and `args`.';
  return problem('wrong-type', 'error', spot, '`command` must be a program; found an address.', fix);
}

/** @param meant the transport according to the other keys of the entry */
export function transportSse(spot: Spot, meant: 'stdio' | 'streamable_http'): Problem {
  if (meant === 'stdio') {
    const message = 'Transport `sse` is for a server at a `url`, and this entry has a `command`.';
    return problem('transport-sse', 'error', spot, message, 'Write `transport: stdio`.');
  }
  const message = 'There is no transport `sse`: `streamable_http` also works with HTTP+SSE servers.';
  return problem('transport-sse', 'error', spot, message, 'Write `transport: streamable_http` and keep the `url`.');
}

export function transportUnsupported(spot: Spot, found: string): Problem {
  const message = `Transport \`${shortened(found)}\` is not supported; expected \`stdio\` or \`streamable_http\`.`;
  const meant = suggestTransports(found).map((transport) => `\`transport: ${transport}\``);
  return problem('transport-unsupported', 'error', spot, message, `Write ${meant.join(' or ')}.`);
}

export function durationInvalid(spot: Spot, key: string, found: string, why: string): Problem {
  const message = `\`${key}\` must be a number of milliseconds or a text such as \`250ms\`, \`30s\` or \`10m\`; ${found}${why}.`;
  return problem('duration-invalid', 'error', spot, message, `Write a duration, for example \`${key}: 30s\`.`);
}

/** Warns of a small number: people mean seconds. */
export function durationShort(spot: Spot, key: string, ms: number): Problem {
  const message = `\`${key}\` is ${ms} ms, because a number without a unit counts milliseconds.`;
  const fix = `Write the unit: \`${key}: ${ms}s\` or \`${key}: ${ms}ms\`.`;
  return problem('duration-invalid', 'warning', spot, message, fix);
}

/** @param instead what to write in a place that takes no reference */
export function referenceNotReplaced(
  spot: Spot,
  target: string,
  reference: ForeignReference,
  instead?: string,
): Problem {
  const written = shortened(reference.written);
  const message = `\`${written}\` in ${target} is not expanded: a text refers to no variables here.`;
  const source = reference.kind === 'variable' ? 'env' : 'secret';
  const name = 'id' in reference ? reference.id : 'name' in reference ? reference.name : undefined;
  const fix =
    name === undefined
      ? 'Write the value out. A path may begin in the folder in which the server starts.'
      : `Write \`{ ${source}: ${shortened(name)} }\`, and the text around it as \`prefix\` and \`suffix\`.`;
  return problem('reference-not-replaced', 'warning', spot, message, instead ?? fix);
}

/** @param why must not quote the URL, because it may hold credentials */
export function urlInvalid(
  spot: Spot,
  why: string,
  fix = 'Write the whole address of the server, for example `url: https://example.com/mcp`.',
): Problem {
  return problem('url-invalid', 'error', spot, `\`url\` ${why}.`, fix);
}

export function cwdMissing(spot: Spot, written: string, resolved: string): Problem {
  const message = `The directory \`${resolved}\` of \`cwd\` does not exist.`;
  const fix = 'Create the directory, or correct `cwd`; it is relative to the workspace folder.';
  return problem('cwd-missing', 'error', spot, message, unexpanded(written) ?? fix);
}

function unexpanded(path: string): string | undefined {
  const isUnexpanded = path.startsWith('~') || foreignReference(path, argumentSyntaxes) !== undefined;
  return isUnexpanded ? 'Write the path out: `~` and variables are not expanded.' : undefined;
}

/** @param reason a phrase such as `it does not exist` */
export function envFileUnusable(spot: Spot, written: string, file: string, reason: string): Problem {
  const message = `The file \`${file}\` of \`envFile\` cannot be used: ${reason}.`;
  const fix = 'Make it a file of variables in the workspace folder, or correct `envFile`.';
  return problem('env-file-unusable', 'error', spot, message, unexpanded(written) ?? fix);
}

/** The command line names its shell in place of this. */
export const whereVariablesAreSet = 'before you start the editor or run `mcp-toolsets`';

export function envUnset(spot: Spot, variable: string, target: string, similar: string | undefined): Problem {
  const message = `The environment variable \`${shortened(variable)}\`, needed for ${target}, is not set.`;
  const other = similar === undefined ? 'name another variable' : `change the name to \`${similar}\`, which is set`;
  const fix = `Set \`${shortened(variable)}\` ${whereVariablesAreSet}, or ${other}.`;
  return problem('env-unset', 'error', spot, message, fix);
}

export function secretUnset(spot: Spot, name: string, target: string): Problem {
  const message = `The secret \`${name}\`, needed for ${target}, has no value yet.`;
  const fix = `Enter its value with “MCP Toolsets: Set Secret…”. On the command line, run \`mcp-toolsets secret set ${name}\`, or set the environment variable of that name.`;
  return problem('secret-unset', 'error', spot, message, fix);
}

/** @param owner the value with both keys, e.g. ``Argument 3`` */
export function twoSources(spot: Spot, owner: string, first: string, other: string): Problem {
  const message = `${owner} names both \`${first}\` and \`${other}\`; its value can come from only one of them.`;
  return problem('wrong-type', 'error', spot, message, 'Remove one of the two.');
}

export function envNameInvalid(spot: Spot, name: string): Problem {
  const message = `\`${shortened(name)}\` cannot be the name of an environment variable: it is empty or holds \`=\` or NUL.`;
  return problem('env-name-invalid', 'error', spot, message, 'Rename or remove the variable.');
}

/** @param what the header and its mistake, without its value */
export function headerInvalid(spot: Spot, what: string, fix: string): Problem {
  return problem('header-invalid', 'error', spot, `${what}.`, fix);
}

/** The header is left out, and the server starts. */
export function headerOfProtocol(spot: Spot, name: string): Problem {
  const isSession = name.toLowerCase() === 'mcp-session-id';
  const message = `The header \`${name}\` belongs to the protocol, so it is sent as MCP needs it, and this value is not.`;
  const fix = isSession ? 'Write the session id as `sessionId` instead.' : 'Remove the header.';
  return problem('header-invalid', 'warning', spot, message, fix);
}

/** @param reason a phrase @param kept true if the file's previous content stays in effect */
export function fileUnreadable(file: string, reason: string, kept = false): Problem {
  const spot = { place: { file, range: startOfFile } };
  const message = `The config file cannot be read: ${reason}.${kept ? ' Its previous content stays in effect.' : ''}`;
  return problem('file-unreadable', 'error', spot, message, 'Make it a regular file in UTF-8 that you can read.');
}

export function idInOtherFolder(spot: Spot, id: string, first: Place): Problem {
  const message = `Server id \`${id}\` is already used by \`${first.file}\`; this entry is left out.`;
  const fix = 'Rename one of the two servers, or remove one of them.';
  return problem('id-in-other-folder', 'error', spot, message, fix, firstEntry(first));
}

export function serverShadowed(spot: Spot, id: string, by: Place): Problem {
  const message = `Server id \`${id}\` is also configured in \`${by.file}\`, which wins; this entry is not used.`;
  const fix = 'To use both, rename one of the two servers; otherwise remove this entry.';
  const related = [{ message: 'The entry that wins is here.', place: by }];
  return problem('server-shadowed', 'information', spot, message, fix, related);
}

/** Shortens a name or value for a message and removes possible secrets. */
export function shortened(text: string): string {
  if (text === '') return "''";
  const line = text.slice(0, 4096).replace(/[\s\p{Cc}]+/gu, ' ');
  return clipped(withoutSecrets(line), 64);
}
