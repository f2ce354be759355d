import { english, filled, numbered } from '../base/language.js';
import type { ProblemCode } from '../base/problemCatalogue.js';
import { mask, withoutArgumentSecrets, withoutSecrets } from '../base/secrets.js';
import { asSentence } from '../base/text.js';
import { textsOf } from '../config/launchValues.js';
import type { StdioLaunch } from '../config/model.js';
import type { PathSearch, Unstartable } from '../processes/program.js';
import type { ProcessExit } from '../processes/processTree.js';
import { shortened } from '../protocol/inBrief.js';
import {
  adviceIn,
  advised,
  baseName,
  clueIn,
  likelyCause,
  type Advice,
  type LikelyCause,
} from './likelyCause.js';
import { failed, type StartFailure } from './startFailure.js';

/** The cause of a transport's end; `closed` means by `close()`. */
export type StdioEnding =
  | { readonly kind: 'closed' }
  | { readonly kind: 'exited'; readonly exit: ProcessExit }
  /** The process lives, but one of its streams has ended. */
  | { readonly kind: 'streamClosed'; readonly stream: 'input' | 'output' };

export interface StdioRemains {
  /** The last lines of stderr, oldest first. */
  readonly stderr: readonly string[];
  /** The first lines of stdout other than JSON-RPC. */
  readonly stray: readonly string[];
  /** The present line of stdout, which has no break yet. */
  readonly unfinished?: string;
  /** What is wrong with an answer of MCP that could not be read (X1a). */
  readonly misread?: string | undefined;
  readonly sawMessage: boolean;
}

export interface StdioFacts {
  readonly launch: StdioLaunch;
  readonly remains: StdioRemains;
}

/** Returns what is wrong with the answer of MCP that a line has or begins. */
export function faultOfAnswer(line: string): string | undefined {
  if (line.includes('j\0s\0o\0n\0r\0p\0c'))
    return 'It writes JSON-RPC in UTF-16, but MCP over stdio needs UTF-8.';
  const text = line.trim();
  const at = text.search(/["']?jsonrpc["']?\s*:\s*["']2\.0["']/);
  const isAnswer = /["']?(?:result|error)["']?\s*:/.test(text);
  if (at < 0 || (!isAnswer && /["']?method["']?\s*:/.test(text))) return undefined;
  if (/[{[,]$/.test(text) || !isAnswer)
    return /^[{\s]*$/.test(text.slice(0, at))
      ? 'It writes JSON-RPC over several lines, but a message of MCP over stdio is one line.'
      : undefined;
  if (!text.startsWith('{') || !text.endsWith('}') || /\}\s*\{/.test(text))
    return 'It wrote an answer beside other text on the same line, so nothing could read the answer.';
  return /^\{\s*(?:'|\w)/.test(text)
    ? 'It wrote an answer as its programming language shows an object, and not as JSON.'
    : undefined;
}

function misreadAdvice({ misread }: StdioRemains): LikelyCause | undefined {
  const fix =
    'Update the server, or ask its author: it must write each message as one line of JSON in UTF-8, and its log to stderr.';
  return misread === undefined ? undefined : { cause: misread, fix };
}

const quotedLines = 6;
const quotedBehindError = 3;
const commandLineLength = 200;

/** Files of launchers. */
const launchers: readonly (readonly [launcher: RegExp, program: string])[] = [
  [/^(?:node|npx|npm)$/, 'Node.js'],
  [/^bunx$/, 'Bun'],
  [/^uvx?$/, 'uv'],
  [/^python3?$/, 'Python'],
  [/^docker$/, 'Docker'],
  [/^podman$/, 'Podman'],
];

function notStarted(
  code: ProblemCode,
  key: 'command' | 'cwd',
  what: string,
  fix: string,
): StartFailure {
  return failed(code, english`did not start: ${what}`, fix, [key]);
}

export function commandNotFound(
  launch: StdioLaunch,
  { folders, nearest }: PathSearch,
): StartFailure {
  const { command } = launch;
  const missing = (what: string, fix: string): StartFailure =>
    notStarted('command-not-found', 'command', what, fix);
  if (/[\\/]/.test(command)) {
    const what = english`the file ${command} does not exist (looked for from ${launch.cwd}).`;
    return missing(what, 'Correct the path in command. A relative path starts at cwd.');
  }
  const name = command.replace(/\.(exe|cmd)$/i, '');
  const program = launchers.find(([launcher]) => launcher.test(name))?.[1];
  const where = english`the command "${command}" is in none of the ${folders} folders of PATH.`;
  if (program !== undefined) {
    const [comes, fix] =
      name === 'python'
        ? [
            'It comes with Python, which many systems call python3.',
            'Use python3, install Python, start the editor from a terminal that finds it, or write its full path as command.',
          ]
        : [
            english`It comes with ${program}.`,
            english`Install ${program}, start the editor from a terminal that finds it, or write its full path as command.`,
          ];
    const why =
      'That is not installed, or only your shell finds it and not the editor (e.g. with nvm, pyenv or Homebrew).';
    return missing(english`${where} ${comes} ${why}`, fix);
  }
  if (nearest === undefined)
    return missing(where, english`Install ${command}, or write its full path as command.`);
  const fix = english`Change \`command\` to \`${nearest}\`, or install \`${command}\`, or write its full path.`;
  return { ...missing(english`${where} There is a command "${nearest}".`, fix), instead: nearest };
}

/** @param found the paths of its programs in the workspace now */
export function programChanged(
  { command }: StdioLaunch,
  [found = 'no program of the workspace']: readonly string[],
) {
  const what = english`the command "${command}" means ${found} now, and meant another program when its approval was checked.`;
  const fix =
    'Start the server again. If a program of the workspace is new, you are asked about it.';
  return notStarted('program-changed', 'command', what, fix);
}

/** @param file of the workspace that decides what the launcher runs */
export function packageChanged({ command }: StdioLaunch, file: string): StartFailure {
  const what = english`${file} decides what the command "${command}" runs, and has changed since its approval was checked.`;
  const fix = 'Start the server again. You are asked about the change.';
  return notStarted('program-changed', 'command', what, fix);
}

/**
 * Returns the failure of a launcher without a package: `npx` would open a shell, which runs our
 * messages as commands.
 */
export function packageMissing({ command, args }: StdioLaunch): StartFailure | undefined {
  const name = baseName(command).replace(/\.(exe|cmd)$/i, '');
  if (
    !/^(?:npx|pnpx|bunx|uvx)$/i.test(name) ||
    !args.every(({ value }) => /^(?:-y|--yes|-q|--quiet|)$/.test(value))
  ) {
    return undefined;
  }
  const yes = name === 'npx' ? "'-y', " : '';
  const fix = english`Write it in args, for example \`args: [${yes}'some-server']\`.`;
  return notStarted('missing-key', 'command', english`${name} needs the name of a package.`, fix);
}

export function folderMissing({ cwd }: StdioLaunch): StartFailure {
  return notStarted(
    'cwd-missing',
    'cwd',
    english`the folder ${cwd} does not exist.`,
    'Create the folder, or correct cwd.',
  );
}

export function withoutInterpreter({ file, firstLine }: Unstartable): string {
  if (!firstLine)
    return english`The file ${file} exists, but the loader that it needs does not: it was made for another system.`;
  const what = english`The file ${file} exists, but the program that its first line names, ${firstLine.program}, does not.`;
  return firstLine.isOfWindows ? english`${what} The file has Windows line endings.` : what;
}

export function interpreterMissing(launch: StdioLaunch, found: Unstartable): StartFailure {
  const fix =
    'Install that program, correct the first line, or name an interpreter as command and the file in args. If the file is in a virtual environment whose Python has moved, create the environment again.';
  return notExecutable(launch, 'ENOENT', `${withoutInterpreter(found)} → ${fix}`);
}

/** For commands known to the system but not startable: EACCES, ENOEXEC, E2BIG … */
export function commandNotStarted(launch: StdioLaunch, error: NodeJS.ErrnoException): StartFailure {
  const code = error.code ?? error.message;
  return notExecutable(
    launch,
    code,
    spawnErrors[code] ??
      advised`The system says: ${error.message}. → Run the command in a terminal to see what is missing.`,
  );
}

function notExecutable({ command }: StdioLaunch, code: string, advice: Advice): StartFailure {
  const { cause, fix } = adviceIn(advice);
  return notStarted(
    'command-not-executable',
    'command',
    english`"${command}" could not be run (${code}). ${cause}`,
    fix,
  );
}

const spawnErrors: Readonly<Record<string, Advice>> = {
  EACCES:
    'It is a folder, or a file without permission to execute. → Make the file executable (chmod +x), or name the program that runs it as command and the file in args.',
  EPERM: 'The system forbids it. → Check the rights of the file and the rules of the system.',
  ENOEXEC:
    'It is not a program for this system, or it is a script whose first line names no interpreter. → Name the interpreter as command (e.g. node or python3) and the file in args.',
  E2BIG: 'Arguments and environment are too long. → Shorten args and env.',
  EMFILE: 'Too many files are open. → Stop other servers, or raise the limit of open files.',
  EAGAIN: 'Too many processes are running. → End other programs, or raise the limit of processes.',
  EINVAL:
    'An argument has a line break, and the command is a batch file, which accepts no line breaks. → Name the program that the batch file starts as command, or remove the line break.',
  ERR_INVALID_ARG_VALUE: 'command, args or env contain a NUL character. → Remove it.',
};

export function endedBeforeAnswer(
  facts: StdioFacts,
  ending: Exclude<StdioEnding, { kind: 'closed' }>,
): StartFailure {
  const args = textsOf(facts.launch.args);
  const output = outputLines(facts.remains);
  const telling = tellingLine(output);
  const ended = endingWords(ending);
  const what =
    telling === undefined
      ? english`${ended} before it answered initialize.`
      : english`${ended}: ${asSentence(telling)}`;
  const misread = misreadAdvice(facts.remains);
  if (ending.kind === 'exited')
    return ofProgram(
      'server-exited',
      what,
      facts,
      misread ?? likelyCause(ending.exit, output, args),
    );
  const fix = 'Check that command and args start an MCP server that speaks over stdio.';
  return ofProgram(
    'server-not-jsonrpc',
    what,
    facts,
    misread ?? clueIn(output, { args, runs: true }) ?? { cause: '', fix },
  );
}

export function neverAnswered(facts: StdioFacts, timeoutMs: number): StartFailure {
  const { command } = facts.launch;
  const args = textsOf(facts.launch.args);
  const what = english`did not answer initialize within ${timeoutMs / 1000} s.`;
  const clue =
    misreadAdvice(facts.remains) ?? clueIn(outputLines(facts.remains), { args, runs: true });
  const { stray, unfinished = '' } = facts.remains;
  if (unfinished.startsWith('{'))
    return ofProgram('server-not-jsonrpc', what, facts, adviceIn(noLineBreak));
  if (stray.length > 0 || unfinished !== '') {
    return ofProgram('server-not-jsonrpc', what, facts, clue ?? adviceIn(otherProgram));
  }
  const name = baseName(command);
  const advice: Advice = /^(npx|bunx|uvx|uv|docker|podman)(\.|$)/i.test(name)
    ? advised`On its first start ${name} may still have been fetching the package. This was ended with the start. → Raise timeouts.connect, e.g. to 5m, or run the command once in a terminal until the package is there. Then restart the server.`
    : 'It may be waiting for something, or not be an MCP server that speaks over stdio. → Run the command in a terminal to see what it waits for; raise timeouts.connect if it is only slow.';
  return ofProgram('server-silent', what, facts, clue ?? adviceIn(advice));
}

const noLineBreak: Advice =
  'A message of MCP over stdio ends with a line break, and this one has none. → Update the server, or ask its author: it must write a line break after each message, and flush its output.';

const otherProgram: Advice =
  'It may be another kind of program, or an MCP server that needs an argument to speak over stdio. → Check command and args; a server must write nothing but JSON-RPC to stdout, and its log to stderr.';

/** Puts the command after the first line, because it is long and known. */
function ofProgram(
  code: ProblemCode,
  what: string,
  facts: StdioFacts,
  { cause, fix, isTaken }: LikelyCause,
): StartFailure {
  const { launch, remains } = facts;
  const [only = '', ...others] = outputLines(remains);
  // `what` quotes a single line already.
  const isQuoted = remains.stderr.length === 1 && others.length === 0;
  const isSaid = isQuoted && what.includes(readable(only));
  const output = isSaid || cause.startsWith('It wrote nothing') ? '' : outputWords(remains);
  const message = english`${what}\n${sentences(english`Command: ${commandLine(launch)}.`, output, cause)}`;
  return {
    code,
    message,
    fix,
    path: [],
    ...(isTaken && { isTaken }),
  };
}

export function clueOf({ launch, remains }: StdioFacts, error: string): ReturnType<typeof clueIn> {
  const output = [error, ...outputLines(remains)];
  return misreadAdvice(remains) ?? clueIn(output, { args: textsOf(launch.args) });
}

function outputLines({ stderr, stray, unfinished = '' }: StdioRemains): string[] {
  return [...stderr, ...stray, ...(unfinished === '' ? [] : [unfinished])].map(withoutColours);
}

/** A colour before a secret shows where it begins, so the secret goes first. */
function withoutColours(line: string): string {
  if (!line.includes('\u001b')) return line;
  return withoutSecrets(line).replace(/\u001b\[[\d;:?]{0,40}[A-Za-z]/g, '');
}

function readable(line: string): string {
  return withoutColours(line)
    .replaceAll('\0', '')
    .replace(/[\s\u2500-\u259f]{1,100}/g, ' ')
    .trim()
    .replace(/^\| | \|$/g, '');
}

/** Frames, borders, headings, locations, and hints to more help. */
const noise =
  /^(?:[^\p{L}\p{N}]*(?:(?:fatal error|error|fatal|panic|exception|traceback)[^\p{L}\p{N}]*)?$|(?:file:\/\/)?\S{1,300}:\d{1,7}(?::\d{1,5})?:?$|thread '[^']{0,100}'[^']{0,40}panicked at \S{1,300}:\d{1,7}:\d{1,5}:$|(?:-->|in) \S{1,300}:\d{1,7}|Unable to find image|(?:[\w.:-]{1,60} ){0,2}(?:try|run|use|see|type|for more|for help)\b.{0,200}(?:--help\b|-h\b|BACKTRACE|more (?:information|details))|at |Node\.js v\d|node:[\w/]{1,100}:\d|File "[^"]{0,400}", line \d|Require stack:|- (?:\/|[A-Z]:\\)|throw |Traceback |\.{3} \d+ lines)/iu;
const naming =
  /^\W{0,20}(?:uncaught )?(?:[\w.]{0,100}(?:error|exception)\b|fatal\b|panic\b|npm err)|(?:error|exception|fatal|panic)\b(?: ?\[\w{1,60}\])?["')\]]{0,2}[:!]|\[(?:error|fatal)\]|panicked at/i;
const mayName =
  /\b(?:required?|requires|must be|missing|cannot|can't|could not|unable to|failed|denied|refused|invalid|unauthori[sz]ed|unsupported|no such)\b|\bnot (?:set|found|provided|defined|configured|supported?)\b|\b(?:does|is) not\b/i;

function tellingLine(lines: readonly string[]): string | undefined {
  const words = lines.map(readable).filter((line) => !noise.test(line));
  const at = namingIndex(words);
  const line = words[at] ?? words.at(-1);
  if (line === undefined) return undefined;
  // The cause is behind a heading.
  const next = at >= 0 && /[:[{]$/.test(line) ? words.slice(at + 1, at + 4) : [];
  return shortened([line, ...next].join(' '), 150);
}

function namingIndex(words: readonly string[]): number {
  const certain = words.findIndex((line) => naming.test(line));
  return certain >= 0 ? certain : words.findIndex((line) => mayName.test(line));
}

/** Returns the command in one line; secrets in its arguments are masked (E4). */
export function commandLine({ command, args }: Pick<StdioLaunch, 'command' | 'args'>): string {
  const shown = withoutArgumentSecrets(textsOf(args)).map((text, index) => {
    const value = args[index];
    return value?.kind === 'reference' ? `${value.prefix}${mask}${value.suffix}` : text;
  });
  const words = [command, ...shown].map((word) =>
    /[\s"']/.test(word) || word === '' ? JSON.stringify(word) : word,
  );
  return `\`${shortened(words.join(' '), commandLineLength)}\``;
}

export function causeOfDeath(ending: StdioEnding, remains: StdioRemains): string {
  const last = remains.stderr.findLast((line) => !noise.test(readable(line)));
  return sentences(
    english`The server process ${endingWords(ending)}.`,
    last === undefined ? '' : english`Its last line on stderr: “${readable(last)}”`,
  );
}

function endingWords(ending: StdioEnding): string {
  switch (ending.kind) {
    case 'closed':
      return 'was stopped';
    case 'streamClosed':
      return ending.stream === 'input' ? 'closed its input' : 'closed its output';
    case 'exited':
      return ending.exit.signal === null
        ? english`exited with code ${ending.exit.code ?? 'null'}`
        : english`was ended by ${ending.exit.signal}`;
  }
}

function outputWords({ stderr, stray, unfinished = '', sawMessage }: StdioRemains): string {
  const parts = [
    ...(stray.length === 0
      ? []
      : [
          english`On stdout it wrote text that is not JSON-RPC:\n${quote(stray.slice(0, quotedLines))}`,
        ]),
    ...(unfinished === ''
      ? []
      : [english`The last line on stdout has no end:\n${quote([unfinished])}`]),
    ...(stderr.length === 0 ? [] : [stderrWords(stderr)]),
  ];
  if (parts.length > 0) return sentences(...parts);
  return sawMessage ? 'It wrote JSON-RPC, but not this answer.' : 'It wrote nothing.';
}

function stderrWords(stderr: readonly string[]): string {
  const words = stderr.map(readable).filter((line) => !noise.test(line));
  const start = namingIndex(words);
  const isLate = start + quotedBehindError >= words.length;
  if (start >= 0 && !isLate && words.length > quotedLines)
    return english`On stderr it wrote:\n${quote(words.slice(start, start + quotedBehindError))}`;
  return english`Last on stderr:\n${quote((words.length === 0 ? stderr.slice(-1) : words).slice(-quotedLines))}`;
}

/** Marks the beginning and the end of each line, because a message may be shown on one line. */
function quote(lines: readonly string[]): string {
  return lines.map((line) => `  “${shortened(readable(line), 300)}”`).join('\n');
}

/** Puts sentences in a row. Behind quoted lines, a new line begins. */
function sentences(...parts: string[]): string {
  const row = parts.filter((part) => part !== '');
  const places = row.map((part, index) => {
    const behind = part.includes('\n') ? '\n' : ' ';
    return `{${index}}${index === row.length - 1 ? '' : behind}`;
  });
  return filled(places.join(''), numbered(row));
}
