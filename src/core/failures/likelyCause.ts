/**
 * `clues` is the only catalogue. A guess is worded as one. Programs write anything, so each
 * expression takes few steps from each character: no part of it can match the same text as the
 * part before it.
 */

import { english, filled, numbered, templateOf } from '../base/language.js';

export interface LikelyCause {
  readonly cause: string;
  readonly fix: string;
  /** It needs something that only one process can have, and another one has it. */
  readonly isTaken?: true;
}

export type Advice = `${string} → ${string}`;

export function adviceIn(advice: Advice): LikelyCause {
  const at = advice.lastIndexOf(' → ');
  return { cause: advice.slice(0, at), fix: advice.slice(at + 3) };
}

/** A tag for an advice with values. Cause and fix are translated separately. */
export function advised(words: TemplateStringsArray, ...values: string[]): Advice {
  const { cause, fix } = adviceIn(templateOf(words) as Advice);
  return `${filled(cause, numbered(values))} → ${filled(fix, numbered(values))}`;
}

interface Circumstances {
  readonly args?: readonly string[];
  readonly runs?: boolean;
}

type Explain = (
  text: string,
  match: RegExpExecArray,
  circumstances: Circumstances,
) => Advice | undefined;

/** In an advice, `{0}` is the first group of the pattern. */
type Clue = readonly [pattern: RegExp, explain: Advice | Explain];

const networkCodes =
  'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH';
const networkCode = new RegExp(String.raw`\b(?:${networkCodes})\b`);

const networkError = new RegExp(
  String.raw`\b(${networkCodes}|ERR_NAME_NOT_RESOLVED|UND_ERR_CONNECT_TIMEOUT)\b|connection refused|name or service not known|nodename nor servname|temporary failure in name resolution|no such host|failed to resolve|getaddrinfo failed|UnknownHostException|network is unreachable|fetch failed\b`,
  'i',
);

/** Servers run without these. */
const sideline =
  /telemetry|analytics|update[ -]?check|check(?:ing)? for (?:a )?(?:new|update)|version check/i;

const hostPatterns: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:${networkCodes}) {1,2}((?:[\w-]{1,63}\.){0,8}[\w-]{1,63}(?::\d{1,5})?|[\da-f:]{2,40})(?![\w:])`,
    'i',
  ),
  /lookup ([\w.-]{1,200})[^\n]{0,80}no such host/,
  /dial tcp ([\w.:[\]-]{1,200}?):? (?:connect|i\/o)/,
  /(?:resolve|UnknownHostException:?|HTTPS?ConnectionPool\(host=) ?['"]?([\w.-]{1,200})/,
  /\((\d{1,3}(?:\.\d{1,3}){3})\),? port \d/,
  /(?:hostname|host): ?['"]([\w.:-]{1,200})['"]/,
  /address: ?['"]([\w.:-]{1,200})['"]/,
  /https?:\/\/([\w.-]{1,200}(?::\d{1,5})?)/,
  /\b((?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})\b/,
];

function explainUnreachable(text: string): Advice | undefined {
  const lines = text.split('\n').filter((line) => !sideline.test(line));
  const at = lines.findIndex((line) => networkError.test(line));
  if (at < 0) return undefined;
  const nearby = lines.slice(at, at + 16).join('\n');
  // The line with a code says more than "fetch failed" before it.
  const code = networkCode.exec(nearby)?.[0];
  const word = code ?? networkError.exec(nearby)?.[0] ?? '';
  const host = hostIn(nearby);
  const isRefused =
    code === 'ECONNREFUSED' || (code === undefined && /connection refused/i.test(word));
  const what = host ?? (isRefused ? 'a service that it needs' : 'the network');
  return isRefused
    ? advised`It cannot reach ${what} (${word}). → Start that service, or correct its address in args or env.`
    : advised`It cannot reach ${what} (${word}). → Check the network or the proxy, and the address in args or env.`;
}

function hostIn(text: string): string | undefined {
  const found = firstIn(text, hostPatterns);
  const port = /\bport:? (\d{1,5})\b/.exec(text)?.[1];
  if (found === undefined || port === undefined || /:\d{1,5}$/.test(found)) return found;
  return found.includes(':') ? `[${found}]:${port}` : `${found}:${port}`;
}

const nodeVersions: readonly RegExp[] = [
  /^ {0,8}Node\.js (v\d[\w.]{0,20})/m,
  /(?:not support|detected|using|running|current(?: version)?:?|got|have|found|is)[^\n\d]{0,30}?(v?\d{1,2}\.\d{1,3}\.\d{1,3})/i,
  /Node(?:\.js)?(?: version)? (v\d{1,2}\.\d{1,3}\.\d{1,3})/i,
];

function wrongNode(text: string): Advice {
  const found = firstIn(text, nodeVersions);
  const cause =
    found === undefined
      ? 'The server seems to need another version of Node.js.'
      : english`The server seems to need another version of Node.js than ${found}.`;
  return advised`${cause} → Update Node.js, or write the path of the right version as command.`;
}

function firstIn(text: string, patterns: readonly RegExp[]): string | undefined {
  return patterns.map((pattern) => pattern.exec(text)?.[1]).find((found) => found !== undefined);
}

const wanting =
  /\bmissing\b|\brequire[sd]?\b|(?:\bnot|n't) (?:been )?(?:set|provided|found|defined|configured|specified|given|present|supplied)\b|\bmust (?:be|have|set|provide|specify|define)\b|\bunset\b|\bunbound\b|\bundefined\b|\b(?:set|provide|export|define|specify|supply)\b|\bneeds?\b|KeyError|NotPresent|\bno [^\n]{0,40}?(?:provided|given|set|found|specified|configured)\b|\bempty\b/i;
const harmless = /default|optional|falling back|fallback|ignor|disabled|skipp|deprecat|\bwarn/i;
const variableName = /(?<![\w-])[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,12}(?!\w)/g;
const otherName =
  /^(?:ERR|UND_ERR|EAI|UNABLE_TO|SELF_SIGNED|CERT|DEPTH_ZERO|NODE_MODULE)_|^MODULE_NOT_FOUND$|^(?:INVALID|MISSING|GLIBC|GLIBCXX|CXXABI)_|_(?:ERROR|FAILED|EXCEPTION|FOUND|DENIED|EXCEEDED|EXISTS|EXHAUSTED|REQUIRED|INVALID|MISSING)$/;
const credentialWords =
  /api[ _-]?key|\btoken|secret|credential|password|environment variable|env(?:ironment)? var/i;

function missingVariables(text: string): string[] | undefined {
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    if (!wanting.test(line) || harmless.test(line)) continue;
    // Schema checkers write the name, its line breaks and only then "required".
    const isShort = /^[\s"',:{[\]}a-z]{0,24}(?:Field required|Required\b)/i.test(line);
    const near = isShort ? [line, ...lines.slice(Math.max(0, at - 4), at).reverse()] : [line];
    for (const one of near) {
      const names = [...new Set(one.match(variableName))].filter((name) => !otherName.test(name));
      if (names.length > 0)
        return /\bor\b|\beither\b/i.test(one) ? names.slice(0, 1) : names.slice(0, 4);
    }
  }
  return undefined;
}

function explainMissing(text: string): Advice | undefined {
  const names = missingVariables(text);
  if (names) {
    const entries = names.map((name) => `${name}: { env: ${name} }`).join(', ');
    const all = names.join(', ');
    return names.length === 1
      ? advised`It seems to miss a variable of its environment: ${all}. → Set it under env of this server: \`env: { ${entries} }\`.`
      : advised`It seems to miss variables of its environment: ${all}. → Set them under env of this server: \`env: { ${entries} }\`.`;
  }
  const isMissing = (line: string): boolean =>
    wanting.test(line) &&
    credentialWords.test(line) &&
    !harmless.test(line) &&
    !/^\s{0,16}-/.test(line);
  return text.split('\n').some(isMissing)
    ? 'It seems to miss a variable of its environment. → Set the variable under env of this server, e.g. `NAME: { env: NAME }`.'
    : undefined;
}

const correctArgs = 'Correct args as the output of the server says.';

/** Names the subcommand in a usage that starts a server. */
function explainUsage(text: string, _: RegExpExecArray, { args = [] }: Circumstances): Advice {
  const names = [
    'mcp',
    'mcp-server',
    'mcp:start',
    'mcp:serve',
    'stdio',
    'serve',
    'server',
    'start',
  ];
  const listed = new Set<string>();
  for (const line of text.split('\n')) {
    const [column = ''] = line.trim().split(/ {2,20}|\t/, 1);
    const words = /^usage\b/i.test(column) ? [] : column.split(' ', 2);
    for (const word of words) listed.add(word.replace(/[,:]$/, ''));
    for (const word of /[{<[(]([\w:|,-]{1,200})[}>\])]/.exec(line)?.[1]?.split(/[|,]/) ?? [])
      listed.add(word);
  }
  const name = names.find((one) => listed.has(one) && !args.includes(one));
  return name === undefined
    ? advised`It printed its usage: it does not accept these arguments. → ${correctArgs}`
    : advised`It printed its usage: it wants a subcommand, such as ${name}. → Add ${name} to args.`;
}

function explainListening(address: string | undefined, port: string): Advice {
  const given = address ?? `http://127.0.0.1:${port}`;
  const local = given.replace(/\/\/(?:0\.0\.0\.0|\[::\]|\*)(?=[:/]|$)/, '//127.0.0.1');
  const url = local.replace(/[.,;]$/, '').replace(/^(https?:\/\/[^/]{1,200})\/?$/, '$1/mcp');
  const shown = port === '' ? (/:(\d{2,5})(?=\/|$)/.exec(url)?.[1] ?? '') : port;
  const fix = english`Write \`transport: streamable_http\` and \`url: ${url}\`, or make the server speak stdio.`;
  return shown === ''
    ? advised`It listens at ${url}. → ${fix}`
    : advised`It listens on port ${shown}. → ${fix}`;
}

export function baseName(file: string): string {
  return file.split(/[\\/]/).at(-1) ?? file;
}

const wantedVersion =
  /No matching version found for ((?:@[\w.-]{1,100}\/)?[\w.-]{1,100})@([^\s'"]{1,60}?)\.?(?=[\s'"]|$)/m;

const incompletePackage = /Cannot find (?:module|package)|ERR_INVALID_PACKAGE_CONFIG|ENOTEMPTY/;
const orFolder = new RegExp(
  String.raw`${incompletePackage.source}|[\\/]_npx[\\/][0-9a-f]{8,64}(?=[\\/'"\s]|$)`,
  'g',
);
/**
 * In characters, from the error. It names the importing file or the missing one: either may be in
 * npx's cache.
 */
const nearFolder = 900;
const longestPath = 300;

function npxFolderIn(text: string): string | undefined {
  let named = -Infinity;
  for (const { 0: found, index } of text.matchAll(orFolder)) {
    if (incompletePackage.test(found)) {
      named = index + found.length;
      continue;
    }
    if (index - named > nearFolder) continue;
    const line = text.slice(Math.max(named, index - longestPath), index);
    const before = /(?<![^'"\n])[^'"\n]*$/.exec(line)?.[0] ?? '';
    const start = before.search(/\/[^\s]|\b[A-Za-z]:\\/);
    if (start >= 0) return before.slice(start) + found;
  }
  return undefined;
}

const taken =
  /EADDRINUSE|address already in use|only one usage of each socket address|\bport (?:\d{1,5} )?(?:is )?already (?:allocated|in use)|\bport \d{1,5} is (?:already )?(?:in use|being used|taken|occupied)(?![^\n]{0,60}\b(?:trying|using|instead|next)\b)|\bname "[^"\n]{1,200}" is already in use|\b(?:browser|profile|directory|database|lock|file|socket|pipe)\b[^\n]{0,120}?\b(?:is|be) (?:already )?(?:in use|locked|held|being (?:held|used))\b|ProcessSingleton|SingletonLock|LOCK: Resource temporarily|another instance\b[^\n]{0,60}\brunning|\balready running\b|(?:could not|unable to|failed to|cannot) (?:acquire|obtain|get|set|take)\b[^\n]{0,40}\block\b/i;

const clues: readonly Clue[] = [
  [
    /No version is set for|No preset version installed|Volta error: [^\n]{0,60}not available|command exists in these [^\n]{0,40}versions|is not installed \(set by/i,
    'The version manager that provides the command (asdf, mise, pyenv, Volta and the like) has no version of it for this folder. → Set a version for this folder, as its output says, or write the full path of the program as command.',
  ],
  [
    /\benv: (?:can't execute )?['"‘]?([\w.+-]{1,60})['"’]?: No such file or directory/,
    'It starts {0}, which is in no folder of PATH. → Start from a terminal that finds {0}, or write a PATH with its folder under env of this server.',
  ],
  [
    /permission denied[^\n]{0,80}\bdocker (?:daemon|API)|docker\.sock: [^\n]{0,40}permission denied/i,
    'This user may not use Docker. → Add the user to the group docker (`sudo usermod -aG docker USER`) and log in again, or use Docker without root.',
  ],
  [
    /Requires (\w{1,20}) access[^\n]{0,300}(--allow-\w{1,20})/,
    (_, [, what = '', option = '']) =>
      advised`Deno does not permit ${what} access. → Add ${option} to args, before the file of the server.`,
  ],
  [
    /version [`'"](\w{1,20}_[\d.]{1,12})['"] not found/,
    'It was built for a newer system than this one ({0} is missing). → Install a build for this system, or run it in a container.',
  ],
  [
    /error while loading shared libraries: ([^\s:]{1,200})|Library not loaded: ([^\s]{1,300})/,
    (_, [, ofLinux, ofMac = '']) =>
      advised`The library ${ofLinux ?? ofMac} that it needs is missing. → Install the library, or another build of the server.`,
  ],
  [
    /npm (?:ERR!|error) code E404|npm (?:ERR!|error) 404 {1,4}'?([^\s']{1,250})'? is not in this registry/i,
    (_, [, name]) =>
      name
        ? advised`npm did not find the package ${name}: its name is misspelt, or it is private. → Correct the package name in args, or log in to its registry.`
        : 'npm did not find the package: its name is misspelt, or it is private. → Correct the package name in args, or log in to its registry.',
  ],
  [
    /npm (?:ERR!|error) code ETARGET|No matching version found for/i,
    (text) => {
      const [, name, version] = wantedVersion.exec(text) ?? [];
      return name !== undefined && version !== undefined
        ? advised`npm has no version ${version} of ${name}. → Correct the version in args, or leave it out.`
        : 'npm has not this version of the package. → Correct the version in args, or leave it out.';
    },
  ],
  [
    /could not determine executable to run/i,
    'The package has no command that npx could run. → Check the package name in args, or name its command with -p PACKAGE COMMAND.',
  ],
  [
    /npm (?:ERR!|error) code (ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET)/i,
    'npm could not reach its registry ({0}). → Check the network and proxy settings, or install the package and start it directly.',
  ],
  [
    incompletePackage,
    (text) => {
      const folder = npxFolderIn(text);
      return folder === undefined
        ? undefined
        : advised`The npx installation in ${folder} is incomplete, perhaps because it was interrupted. → Delete the folder ${folder} and restart the server: npx then installs the package again.`;
    },
  ],
  [
    /Cannot find module '([^'\n]{0,300}\.node)'|(Could not locate the bindings file|No native build was found|NODE_MODULE_VERSION|invalid ELF header|Could not load the "sharp" module)/,
    (text, match) => {
      const file = match[1] ?? /(?<![\w.-])[\w.-]+\.node\b/.exec(text)?.[0];
      const cause =
        file === undefined
          ? 'Its native part was not built when the package was installed, or was built for another Node.js.'
          : english`Its native part ${baseName(file)} was not built when the package was installed, or was built for another Node.js.`;
      return advised`${cause} → Install it again where its build can run, with the Node.js that starts it.`;
    },
  ],
  [
    /Cannot find (?:module|package) '(?!node:)([^'\n]{1,500})'/,
    'Node did not find {0}: the path is wrong, or its dependencies are not installed. → Correct the path in args or cwd, or install the dependencies there.',
  ],
  [
    /can't open file '([^'\n]{1,500})'/,
    'Python did not find the file {0}. → Correct the path in args or cwd.',
  ],
  [
    /ModuleNotFoundError: No module named '([^'\n]{1,200})'/,
    'Python has no module {0} in this environment. → Install it, or name the Python of the right virtual environment as command.',
  ],
  [
    /not found in the package registry|No solution found when resolving|No matching distribution found/i,
    'uv did not find the package or a version of it that fits. → Correct the package name or its version in args.',
  ],
  [
    /Cannot connect to the Docker daemon|docker daemon is not running|error during connect/i,
    'Docker is not running. → Start Docker, then restart the server.',
  ],
  [
    /(?:response from daemon|initializing source)\b[^\n]{0,400}?: (?:denied|unauthorized|no basic|toomanyrequests)|pull access denied/i,
    'The registry refused the image: it wants a login, or has no such image. → Log in with `docker login` and the name of the registry, or correct the image name in args.',
  ],
  [
    /the input device is not a (?:TTY|terminal)/i,
    'The option -t wants a terminal, and a server over stdio has none. → Write -i in args, in place of -it.',
  ],
  [
    taken,
    (_, [words]) =>
      /port|addr/i.test(words)
        ? 'A port that it needs is taken, perhaps by another instance of it. → End the other program, or give the server another port.'
        : 'A name or a file that it needs is in use, perhaps by another instance of it. → End the other program, or give the server another name or folder.',
  ],
  [networkError, explainUnreachable],
  // Docker writes the first before every download.
  [
    /Unable to find image(?![^]{0,4000}?(?:Pull complete|Digest:|Downloaded newer))|manifest unknown/i,
    'Docker did not find the image. → Correct the image name in args, or pull it first.',
  ],
  [
    /(?:TypeError|Error)[^\n]{0,40}: Invalid URL\b/,
    'It was given an address that is no URL. → Correct the address in args or env.',
  ],
  [
    /\bnot support Node\b|requires? (?:a )?(?:minimum )?(?:version of )?Node(?:\.js|JS)?\b|requires? (?:at least )?Node|Node(?:\.js)?(?: version)? ?(?:>=?|v?)? ?\d[\w.]{0,12}\+?(?: or (?:higher|later|newer|above))? (?:is )?required|(?:upgrade|update)(?: to| your)? Node|No such built-in module|Cannot find (?:module|package) 'node:|SyntaxError: (?:Unexpected token(?![^\n]{0,200}JSON)|The requested module|Invalid regular expression flags)|ERR_REQUIRE_ESM|ReferenceError: (?:File|CustomEvent|WebSocket|fetch|navigator|crypto|Iterator) is not defined|(?:withResolvers|toSorted|toReversed|markAsUncloneable|getBuiltinModule|Object\.groupBy|structuredClone) is not (?:a function|defined)|The engine "node" is incompatible/i,
    wrongNode,
  ],
  [
    /missing (?:required )?(?:argument|option|flag|parameter)s?:? ?['"`]?([\w<>.-]{0,60})|the following (?:argument|option)s are required: ?([^\n]{0,100})|following required arguments were not provided|not enough (?:non-option )?arguments|too few arguments|required (?:argument|option|flag) ['"`]?([\w<>.-]{1,60})/i,
    (text, match) => {
      if (missingVariables(text)) return undefined;
      const name = match[1] || match[2] || match[3] || '';
      return name === ''
        ? advised`It needs an argument that args does not have. → ${correctArgs}`
        : advised`It needs an argument that args does not have: ${name}. → ${correctArgs}`;
    },
  ],
  [wanting, explainMissing],
  [/Unsupported engine|EBADENGINE/i, wrongNode],
  [
    /command not found|\bsh: (?:line )?\d{1,5}: [^\n]{1,200}: not found|is not recognized as an internal or external command/i,
    'A command that it calls is not installed. → Install the command that its output names.',
  ],
  [
    /(?:unknown|unrecognized|invalid|unexpected) (?:option|argument|command)/i,
    'It does not accept these arguments. → Correct args as the output of the server says.',
  ],
  [/^[ \t]{0,8}(?:usage\b|(?:available )?commands:)/im, explainUsage],
  [
    /\b(?:listening|running|started|available|serving|served)\b[^\n]{0,60}?(?:(https?:\/\/[^\s'"<>()]{1,200})|\bport:? {0,2}(\d{2,5})\b|(?:on|at) (?:[\w.*-]{0,60}|\[[\da-f:]{0,40}\]|::):(\d{2,5})\b)/i,
    (_, match, { runs = false }) =>
      runs ? explainListening(match[1], match[2] ?? match[3] ?? '') : undefined,
  ],
];

export function clueIn(
  output: readonly string[],
  circumstances: Circumstances = {},
): LikelyCause | undefined {
  const text = output.join('\n');
  for (const [pattern, explain] of clues) {
    const match = pattern.exec(text);
    const advice =
      typeof explain === 'string' || !match ? explain : explain(text, match, circumstances);
    if (!match || typeof advice !== 'string') continue;
    const { cause, fix } = adviceIn(advice);
    const whole = (words: string): string => filled(words, { 0: match[1] ?? '' });
    const words =
      typeof explain === 'string' ? { cause: whole(cause), fix: whole(fix) } : { cause, fix };
    return pattern === taken ? { ...words, isTaken: true } : words;
  }
  return undefined;
}

const exitCodes: Readonly<Record<number, Advice>> = {
  0: 'It ended without an error, so it may not be an MCP server, or may need an argument such as `stdio`. → Run the command in a terminal: an MCP server waits for input. Then correct command and args.',
  126: 'A shell was not allowed to run the command. → Make the command executable.',
  127: 'A shell did not find the command it was told to run. → Correct the command in args.',
};

type Exit = Readonly<{ code: number | null; signal: string | null }>;

export function likelyCause(
  exit: Exit,
  output: readonly string[],
  args: readonly string[] = [],
): LikelyCause {
  return clueIn(output, { args }) ?? adviceIn(adviceOn(exit, output));
}

function adviceOn({ code, signal }: Exit, output: readonly string[]): Advice {
  if (signal === 'SIGKILL') {
    return 'The system or another program ended it, often because memory ran out. → See how much memory is free, then restart it.';
  }
  if (signal !== null)
    return 'Another program ended it, or it crashed. → Look at the server’s log, then restart it.';
  const isSilent = output.every((line) => line.trim() === '');
  const cause = isSilent
    ? 'It wrote nothing, so its arguments or variables may be wrong.'
    : 'The cause is in its last output.';
  const fix =
    'Run the command in a terminal to see what is missing, then correct command, args or env.';
  // A program may end with the exit code of a shell, and its words say more (X3d).
  const known = isSilent || code === 0 ? exitCodes[code ?? -1] : undefined;
  return known ?? `${cause} → ${fix}`;
}
