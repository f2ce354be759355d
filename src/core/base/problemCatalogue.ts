/**
 * Every problem: what happened and what to do, which `docs/problems.md` explains. `{name}` in a
 * text is a field that `problemOf` fills in; `{server}` is the server with the problem.
 * Other braces hold a blank, a comma or nothing. A word behind `:` tells several texts of one code
 * apart.
 */
const saying =
  <const Severity extends string>(severity: Severity) =>
  <const Message extends string, const Fix extends string>(message: Message, fix: Fix) => ({
    severity,
    message,
    fix,
  });

const error = saying('error');
const warning = saying('warning');
const information = saying('information');
const hint = saying('hint');

/** Of a starting server: `core/failures` has the words. */
const startFailure = error('"{server}" {said}', '{fix}');

export const catalogue = {
  // One config file.
  'yaml-syntax': error('{said}', '{fix}'),
  'yaml-syntax:ignored': warning(
    'YAML: {said}; it is ignored.',
    'Remove the tag or directive, or write one that YAML 1.2 knows. Put a text that begins with `!` in quotes.',
  ),
  'json-syntax': error(
    'The file is not JSON: {what}.',
    'Write JSON; comments and commas at the end are allowed.',
  ),
  'version-missing': error(
    'The file does not say its `version`.',
    'Write `version: 1` as the first line.',
  ),
  'version-missing:notAMap': error(
    'The file is {found}; expected a map with `version` and `servers`.',
    'Begin the file with `version: 1` and a map `servers:`.',
  ),
  'version-unsupported': error(
    '`version` is {found}; only the number 1 is supported.',
    'Write `version: 1`, without quotes.',
  ),
  'servers-not-a-map': error(
    '`servers` is {found}; expected a map from server ids to their settings.',
    'Write each server as a separate key under `servers:`, for example `search:` with its settings below it.',
  ),
  'servers-not-a-map:ofJson': error(
    '{what} is {found}; expected an object from server ids to their settings.',
    'Write `{ "mcpServers": { … } }`, or the servers themselves in one object.',
  ),
  'duplicate-server': error(
    'Server id `{key}` is used twice in this file.',
    'Rename or remove one of the two entries.',
  ),
  'too-many-servers': error(
    'The file has {count} servers; only the first {most} are read.',
    'Remove the servers that you do not need.',
  ),
  'server-id-invalid': error(
    'Server id `{id}` {why}.',
    'Rename the server to match ^[a-zA-Z0-9_-]{1,64}$.',
  ),
  'server-id-invalid:builtIn': error(
    'Server id `{id}` is the id of a built-in toolset.',
    'Rename the server.',
  ),
  'unknown-key': warning(
    'Unknown key `{key}`; known keys: {known}.',
    'Remove the key, or write one of the known ones.',
  ),
  'unknown-key:misspelt': warning(
    'Unknown key `{key}`; did you mean `{instead}`?',
    'Rename it to `{instead}`.',
  ),
  'unknown-key:again': warning(
    'Unknown key `{key}`; did you mean `{instead}`?',
    'Remove the key: `{instead}` is written already.',
  ),
  'unknown-key:disabled': warning(
    'Unknown key `{key}`: the key is `enabled`, with the opposite value.',
    'Write `enabled: false` if the server must not start.',
  ),
  'unknown-key:besideServers': warning(
    '`{key}` is next to `mcpServers`, where it has no effect.',
    'Move it into `mcpServers` if it is a server, or remove it.',
  ),
  'unknown-key:ofTeam': warning(
    'Unknown key `{key}`; did you mean `{meant}`?',
    'Rename it to `{meant}`.',
  ),
  'key-not-for-transport': warning(
    '`{key}` belongs to transport `{owner}` and has no effect with `{transport}`.',
    'Remove `{key}`, or write `transport: {owner}`.',
  ),
  'missing-key': error('{owner} has no `{key}`.', 'Add `{example}`.'),
  'missing-key:command': error(
    '{owner} has no `command`.',
    'Write the program, for example `command: npx`, and its package in `args`.',
  ),
  'wrong-type': error('{what} must be {expected}; found {found}.', '{fix}'),
  'wrong-type:merge': error(
    'The merge key `<<` takes a map, an alias of a map, or a list of those; found {found}.',
    'Refer to a map, for example `<<: *defaults`, or remove the key.',
  ),
  'wrong-type:step': error(
    'An item of `transform` must be a map with `prefix`, `suffix` or `replace`; found {found}.',
    "Write `- prefix: 'my_'`, `- prefix: { remove: 'old_', add: 'my_' }`, `- suffix: '_v2'` or `- replace: { '.': '_' }`.",
  ),
  'wrong-type:twoSources': error(
    '{owner} names both `{first}` and `{other}`; its value can come from only one of them.',
    'Remove one of the two.',
  ),
  'duplicate-key': error('Key `{key}` is written twice in one map.', 'Remove one of the two.'),
  'duplicate-key:ofHeader': error(
    '`{key}` is written twice: the names of headers ignore case.',
    'Remove one of the two.',
  ),
  'duplicate-key:stateless': error(
    '`{key}` is written twice: `stateless` and `truely-stateless` mean the same.',
    'Remove one of the two.',
  ),
  'version-not-pinned': hint(
    '`{name}` is given {how}, so it may run another version on each machine and tomorrow.',
    'Write an exact version or a digest behind the name. For a package of npm, `mcp-toolsets pin` writes the version that runs.',
  ),
  'env-name-invalid': error(
    '`{name}` cannot be the name of an environment variable: it is empty or holds `=` or NUL.',
    'Rename or remove the variable.',
  ),
  'header-invalid:name': error(
    '`{name}` cannot be the name of an HTTP header.',
    'Write a name of ASCII letters, digits and `-`.',
  ),
  'header-invalid:protocol': warning(
    'The header `{name}` belongs to the protocol, so it is sent as MCP needs it, and this value is not.',
    '{fix}',
  ),
  'header-invalid:value': error(
    'The value of header `{name}` holds a line break, a control character or one beyond Latin-1.',
    '{fix}',
  ),
  'header-invalid:session': error(
    '`sessionId` holds a space or a character that is not visible ASCII.',
    'Write the session id as the server gave it.',
  ),
  'key-not-used': information(
    '`{key}` is not used here.',
    'Leave it for the program that reads it.',
  ),
  'key-not-used:replaced': information(
    '`transform` is not used here, because `tools.transform` replaces it.',
    'Leave it for the program that reads it, or remove it.',
  ),
  'command-with-arguments': error(
    '`command` names one program, which is started without a shell; its arguments belong in `args`.',
    "Keep only the program in `command`, and write each argument as an item of `args`, for example `args: ['-y', some-server]`.",
  ),
  'transport-sse': error(
    'There is no transport `sse`: `streamable_http` also works with HTTP+SSE servers.',
    'Write `transport: streamable_http` and keep the `url`.',
  ),
  'transport-sse:withCommand': error(
    'Transport `sse` is for a server at a `url`, and this entry has a `command`.',
    'Write `transport: stdio`.',
  ),
  'transport-unsupported': error(
    'Transport `{transport}` is not supported; expected `stdio` or `streamable_http`.',
    'Write {meant}.',
  ),
  'duration-invalid': error(
    '`{key}` must be a number of milliseconds or a text such as `250ms`, `30s` or `10m`; found {found}{why}.',
    'Write a duration, for example `{key}: {instead}`.',
  ),
  'duration-invalid:noUnit': warning(
    '`{key}` is {ms} ms, because a number without a unit counts milliseconds.',
    'Write the unit: `{key}: {ms}s` or `{key}: {ms}ms`.',
  ),
  'url-invalid': error('`url` {why}.', '{fix}'),
  'reference-not-replaced': warning(
    '`{written}` in {target} is not expanded: a text refers to no variables here.',
    '{fix}',
  ),
  'cwd-missing': error('The folder `{cwd}` of `cwd` does not exist.', '{fix}'),
  'env-file-unusable': error('The file `{file}` of `envFile` cannot be used: {reason}.', '{fix}'),
  'env-unset': error(
    'The environment variable `{variable}`, needed for {target}, is not set.',
    'Set `{variable}` {where}, or {other}.',
  ),
  'secret-unset': error(
    'The secret `{name}`, needed for {target}, has no value yet.',
    'Enter its value with “Set Secret…” in “MCP Toolsets: Manage Server…”. On the command line, run `mcp-toolsets secret set {name}`, or set the environment variable of that name.',
  ),
  'problems-left-out': warning(
    'The file has {count} more problems, which are not shown.',
    'Correct the problems that are shown. If the file has aliases, begin with the values that they refer to.',
  ),
  'pattern-blank': warning(
    'A pattern of `{key}` is blank and is ignored.',
    'Remove it, or write the name of a tool; `*` is any text.',
  ),

  // Several config files.
  'id-in-other-folder': error(
    'Server id `{id}` is already used by `{file}`; this entry is left out.',
    'Rename one of the two servers, or remove one of them.',
  ),
  'server-shadowed': information(
    'Server id `{id}` is also configured in `{file}`, which wins; this entry is not used.',
    'To use both, rename one of the two servers; otherwise remove this entry.',
  ),
  'local-entry-alone': warning(
    'The entry `{id}` lies over no server, and without `transport` it is none itself. It changes nothing.',
    '{fix}',
  ),
  'local-file-tracked': warning(
    'Git tracks this file, so everybody who clones the repository gets it.',
    'Run `git rm --cached .minds/mcp.local.yaml`, and commit. The file stays.',
  ),

  // The tools, prompts and resources of a server, and their names.
  'pattern-matches-nothing': warning(
    'The pattern "{pattern}" matches none of the {of} of "{server}".',
    'Correct the pattern (it is matched against the {against}; only * is a wildcard) or remove it.',
  ),
  'pattern-overruled': warning(
    'The blacklist pattern "{pattern}" keeps nothing out. The whitelist ({by}) lets through all {of} of "{server}" that it matches: {matched}.',
    'If both lists match, the whitelist wins. Narrow the whitelist, or remove the pattern.',
  ),
  'filtered-tools': hint(
    'The {list} keeps out {count} of "{server}": {names}.',
    'No action needed if you keep these out on purpose; otherwise change the {list}.',
  ),
  'tool-name-invalid': warning(
    'The tool "{name}" of "{server}" is left out: {why}.',
    "Give it a valid name by a step of `transform`, for example `- replace: { '.': '_' }`, or blacklist it.",
  ),
  'published-name-invalid': warning(
    'The tool "{tool}" of "{server}" is left out: its published name would be "{published}", and {why}.',
    'Shorten or correct the transforms.',
  ),
  'tool-listed-twice': warning(
    'The server "{server}" lists the tool "{name}" more than once. The first one is used, the others are left out.',
    'Ask the author of the server to give each tool a different name.',
  ),
  'name-twice-in-server': error(
    'The tools "{first}" and "{tool}" of "{server}" would both be published as "{published}". None of its tools are published, unless its previous definition still serves.',
    'Change the transforms, or blacklist one of the two.',
  ),
  'name-taken': warning(
    '"{server}" does not publish the {named}, because {why}.',
    'Give "{server}" or "{holder}" a prefix, or blacklist {tools} in one of them.',
  ),
  'name-reserved': warning(
    '"{server}" does not publish the {named}, because {belongs} to built-in tools.',
    'Give "{server}" a prefix, or blacklist {tools}.',
  ),
  'schema-unusable': warning(
    'The tool "{tool}" of "{server}" is left out: {detail}. One such schema makes clients refuse the whole list.',
    'Blacklist the tool, or ask the author of the server to correct the schema.',
  ),
  'schema-refused-by-models': warning(
    'Models of {apis} refuse every request with the tool "{tool}" of "{server}", so agents with such a model cannot work: {detail}.',
    'Blacklist the tool if your agents use such a model, or ask the author of the server to correct the schema.',
  ),
  'schema-refused-by-models:mended': warning(
    'Models of {apis} would refuse every request with the tool "{tool}" of "{server}": {detail}. Agents get the schema in a form without this fault.',
    'No action needed. The author of the server can correct the schema for other hosts.',
  ),
  'output-schema-left-out': warning(
    'The tool "{name}" of "{server}" is published without its output schema: {detail}. A client that cannot compile one output schema loses the tools of every server.',
    'Ask the author of the server to correct the schema. The tool works without it.',
  ),
  'output-schema-broken': warning(
    'A result of the tool "{tool}" of "{server}" breaks its output schema: its `structuredContent` is missing or does not fit. It was passed on, but strict clients refuse it.',
    'Ask the author of the server to correct the tool or its output schema, then restart the server.',
  ),
  'override-unknown': warning(
    'The argument "{argument}" of the tool "{name}" of "{server}" {detail}.',
    '{fix}',
  ),
  'override-unknown:noTool': warning(
    '`override` names the tool "{name}", which "{server}" does not have.',
    'Correct the name (it is the one that the server gives), or remove the override.',
  ),
  'override-unusable': error(
    'The argument "{argument}" of the tool "{tool}" of "{server}" {detail}. The tool is left out.',
    '{fix}',
  ),
  'override-refused': warning(
    'The argument "{argument}" of the tool "{name}" of "{server}" {detail}.',
    '{fix}',
  ),
  'tool-malformed': warning(
    'An entry of the tool list of "{server}" ({name}) is left out: it {detail}.',
    'Ask the author of the server to correct it. The other tools are not affected.',
  ),
  'app-unusable': warning(
    'The app {uri} of "{server}" cannot be shown: {fault}. It belongs to {names}.',
    'Look at its log, or ask its author to correct it. The results of the tools are not affected.',
  ),
  'entry-left-out:malformed': warning(
    'An entry of the {of} of "{server}" ({name}) is left out: it {detail}.',
    'Ask the author of the server to correct it. Nothing else is affected.',
  ),
  'entry-left-out:listedTwice': warning(
    'The server "{server}" lists the prompt "{first}" twice; the second is left out.',
    'Ask its author to correct it.',
  ),
  'entry-left-out:sameName': warning(
    'The prompts "{first}" and "{second}" of "{server}" would both be published as "{published}"; the second is left out.',
    'Change the transforms of its prompts, or blacklist one of the two.',
  ),
  'entry-left-out:heldElsewhere': warning(
    '"{server}" and "{holder}" both have {names}. Clients of all toolsets together (`/mcp`, `connect` without a name) get {them} from "{holder}" only.',
    'Keep {them} out of one of the two with `prompts` or `resources`, or rename prompts with `prompts.transform`.',
  ),
  'entry-left-out:notReviewed': warning(
    '"{server}" lists more than {most} resources. Only the first {most} can be reviewed, so agents do not see the others while changes are held back.',
    'Let the server list fewer, or do not hold changes back.',
  ),
  'editor-id-too-long': warning(
    'The editor does not get the {which} of "{server}": it would call {it} "{first}", which has {length} characters. The editor cuts ids at 64 and loses tools if two cut ids are equal. All other clients get {them}.',
    'Shorten {names} by a transform, or begin every published name with "{server}_", which the editor does not see twice.',
  ),
  'editor-schema-refused': warning(
    'The editor does not get the tool "{tool}" of "{server}", because it or its chat would refuse the schema: {detail}. All other clients get it.',
    'Blacklist the tool, or ask the author of the server to correct the schema.',
  ),
  'agent-host-name': hint(
    'Agent sessions that the editor runs outside its window do not get the {which} of "{server}": they would call {it} "{first}", {why}. All other clients get {them}.',
    'Give other names by a transform, or give the server a shorter id.',
  ),
  'too-many-tools': warning(
    'Agents get {total} tools, and "{server}" takes the count over {limit}. Models that cannot search among tools accept no more in one request, including the tools of the editor.',
    'Keep out what agents do not need with whitelist or blacklist, disable a server, or choose fewer in the tool picker of the chat.',
  ),
  'text-cut': information(
    '{agent} keeps {most} characters of a text and cuts what "{server}" says beyond them: {what}.',
    'Shorten a description with `tools.override`. Write what agents must know into `manual`, which comes before the instructions of the server.',
  ),
  'text-cut:together': information(
    '{agent} keeps {most} characters of the instructions of all toolsets together, which have {all}. It cuts them in what they say about "{server}".',
    'Write a short `manual` for each server, because all of them come first. Or give the agent an entry for each toolset: `mcp-toolsets entries AGENT --each`.',
  ),
  'tools-unused': information(
    '{count} of {of} of "{server}" were never called in {days} days, and cost about {tokens} tokens in each request: {names}.',
    'Choose “Keep Out Unused Tools…” in the sidebar, or run `mcp-toolsets tools --use`, which shows the figures. Leave tools that are rare on purpose.',
  ),
  'list-incomplete': warning(
    'The {of} of "{server}" could not all be listed: {detail} Its tools are not affected.',
    'Read its log, correct the cause, and restart it.',
  ),
  'list-incomplete:pages': warning(
    'The list of tools of "{server}" may lack some: {detail} Agents get the tools that came.',
    'Update the server, let it list fewer tools, or ask its author to correct the pages of its list. Restart it to list again.',
  ),
  'list-incomplete:nothing': warning(
    '"{server}" declares no tools, prompts or resources in its capabilities, so it was not asked for any.',
    'Update the server, or ask its author: capabilities need `tools: {}` if it has tools.',
  ),
  'list-empty': warning(
    '"{server}" lists no tools, prompts or resources, so agents get nothing from it.',
    'Check what its documentation asks for, such as credentials or settings, and read its log. Restart it after a change.',
  ),
  'list-too-long': error(
    'The {of} of "{server}" are too many, or have too long names, to match its patterns, so none of them is published.',
    'Use fewer or shorter patterns, or make the server list less.',
  ),

  // Consent.
  'approval-pending': information(
    '"{server}" waits for your approval before it starts.',
    'Run “MCP Toolsets: Review Servers Waiting for Approval…”, approve it in the sidebar, or run `mcp-toolsets approve {server}`.',
  ),
  'approval-pending:changed': information(
    'The launch of "{server}" has changed and waits for your approval. Until then, its previous definition serves.',
    'Run “MCP Toolsets: Review Servers Waiting for Approval…”, approve it in the sidebar, or run `mcp-toolsets approve {server}`.',
  ),
  'server-barred': warning(
    'The server "{server}" is not started, because the list "{setting}" of the editor {how}.',
    'Ask whoever administers the editor to change that list, or remove the server.',
  ),
  'tools-changed': warning(
    '"{server}" has changed what it offers since you let it start: {changes}.{held}',
    'Run “MCP Toolsets: Accept Changed Tools…”, which shows the changes, or blacklist what you do not want. Without an editor, `mcp-toolsets approve {server}` shows and accepts them.',
  ),
  'tools-changed:ofFile': warning(
    'The file now overrides {changes} of "{server}".{held}',
    'Run “MCP Toolsets: Accept Changed Tools…”, which shows the override, or remove it. Without an editor, `mcp-toolsets approve {server}` shows and accepts it.',
  ),
  'lock-unreadable': error(
    'The lock file cannot be read: {why}. Until it can, agents get nothing of the servers of this folder.',
    'Correct the file, take it from Git again, or write it with `mcp-toolsets lock --write`. Without the file, no server is locked.',
  ),
  'lock-differs': error(
    '"{server}" differs from the lock file: {changes}.',
    'Find out what changed. If it is right, run `mcp-toolsets lock {server} --write` or the quick fix, and commit the file. Otherwise pin the version that was locked.',
  ),
  'lock-version': error(
    '"{server}" runs {now}, and the lock file has {locked}.',
    'Pin the locked version in the config file. If the other version is right, run `mcp-toolsets lock {server} --write` or the quick fix, and commit the file.',
  ),
  'sign-in-needed': error('"{server}" needs a sign-in. {why}', '{fix}'),
  'sign-in-needed:lacks': warning(
    'A call of "{server}" needed more rights than were granted: {lacks}.',
    '{fix}',
  ),

  // A starting or running server.
  'value-command-failed': startFailure,
  'command-not-found': startFailure,
  'command-not-executable': startFailure,
  'program-changed': startFailure,
  'server-exited': startFailure,
  'server-silent': startFailure,
  'server-not-jsonrpc': startFailure,
  'server-protocol': startFailure,
  'http-unauthorized': startFailure,
  'http-not-found': startFailure,
  'http-status': startFailure,
  'http-not-mcp': startFailure,
  'http-tls': startFailure,
  'http-unreachable': startFailure,
  'list-failed': startFailure,
  'refresh-failed': warning(
    '"{server}" reported changed tools, but the new list could not be read: {detail} The old list stays.',
    'Read its log, correct the cause, and restart it.',
  ),
  'connection-lost': warning(
    'An instance of "{server}" ended unexpectedly: {cause}.',
    'No action needed if this was intended: the next call starts a new one. Otherwise read its last output in its log.',
  ),
  'connection-lost:again': error(
    '"{server}" ended {times}: {cause}.',
    'Correct the cause and restart it. Its log shows its last output.',
  ),
  'versions-differ': warning(
    'Instances of "{server}" run different versions of {name}: {versions}.',
    'Restart the server, so that all run one version, and pin the version.',
  ),
  // Not a failure of the server, so its log says nothing about it.
  'too-many-instances': error('"{server}" {said}', '{fix}'),
  'instances-evicted': warning(
    'The limit of {most} instances cost {count} conversations their state: their instances made room, and they called again.',
    'Write `maxInstances: {instead}` at the head of this file. If `--max-instances` or the setting mcpToolsets.maxInstances is given, raise that instead.',
  ),

  // The team.
  'member-id-invalid': error(
    'Member id `{id}` may hold only ASCII letters, digits, `_` and `-`, 1 to 64 of them.',
    'Rename the member; `name:` may be any text.',
  ),
  'member-unknown': error('There is no member `{id}`.', '{fix}'),
  'member-in-other-folder': error(
    'Member `{id}` is already in `{file}`; this entry is left out.',
    'Rename one of the two.',
  ),
  'toolset-unknown': warning(
    'There is no toolset `{id}`: no config file has a server of that id.',
    '{fix}',
  ),
  'toolset-deferred': information(
    'Toolset `{id}` has no tools now: its server is {state}. The member gets them as soon as the server is up.',
    'No action needed if this is what you want; otherwise see the problems of the server.',
  ),
  'grant-without-effect': warning(
    '`!{id}` takes away a toolset that this list does not grant.',
    "Begin the list with '*' to grant every other toolset, or remove the item.",
  ),
};

/**
 * The modules that report these problems hold the texts, because `activate` loads those modules and
 * not this one (P1).
 */
export const codesOfWindow = [
  'file-unreadable',
  'agents-window-off',
  'editor-toolset-hidden',
  'endpoint-port-taken',
  'endpoint-port-unconfirmed',
  'endpoint-failed',
  'editor-port-taken',
  'model-rejected',
  'model-may-refuse',
] as const;

/** A code, or one of its several texts. */
export type TextKey = keyof typeof catalogue;

type CodeOf<Key> = Key extends `${infer Code}:${string}` ? Code : Key;

export type ProblemCode = CodeOf<TextKey> | (typeof codesOfWindow)[number];

/** True for a problem of a starting or running server. Its log has more about it. */
export function isOfRun(code: ProblemCode): boolean {
  if (code === 'refresh-failed' || code === 'connection-lost') return true;
  return (catalogue as Partial<Record<ProblemCode, unknown>>)[code] === startFailure;
}
