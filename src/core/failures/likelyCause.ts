/**
 * Explains the usual meaning of a process's last words, with a next step. Everything here is pure; a guess is worded
 * as one.
 */

interface LikelyCause {
  /** A sentence. */
  readonly cause: string;
  readonly fix: string;
}

type Clue = readonly [pattern: RegExp, explain: (match: RegExpExecArray) => LikelyCause];

const clues: readonly Clue[] = [
  [
    /npm (?:ERR!|error) code E404|npm (?:ERR!|error) 404 .*?'?([@\w./-]+@[\w.^~*-]+)?'? is not in this registry/i,
    (match) => ({
      cause: `npm did not find the package${match[1] ? ` ${match[1]}` : ''}: its name is misspelt, or it is private.`,
      fix: 'Correct the package name in args, or log in to its registry.',
    }),
  ],
  [
    /could not determine executable to run/i,
    () => ({
      cause: 'The package has no command that npx could run.',
      fix: 'Check the package name in args, or name its command with -p PACKAGE COMMAND.',
    }),
  ],
  [
    /npm (?:ERR!|error) code (ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET)/i,
    (match) => ({
      cause: `npm could not reach its registry (${match[1]}).`,
      fix: 'Check the network and proxy settings, or install the package and start it directly.',
    }),
  ],
  [
    // The error names the importing file or the missing one: either may be in npx's cache.
    /(?:Cannot find (?:module|package)|ERR_INVALID_PACKAGE_CONFIG|ENOTEMPTY)[^]{0,600}?((?:\/|\b[A-Za-z]:\\)[^\s'"][^'"\n]{0,300}?[\\/]_npx[\\/][0-9a-f]{8,64})(?=[\\/'"\s]|$)/,
    (match) => ({
      cause: `The npx installation in ${match[1]} is incomplete, perhaps because it was interrupted.`,
      fix: `Delete the folder ${match[1]} and restart the server: npx then installs the package again.`,
    }),
  ],
  [
    /Cannot find (?:module|package) '([^']+)'/,
    (match) => ({
      cause: `Node did not find ${match[1]}: the path is wrong, or its dependencies are not installed.`,
      fix: 'Correct the path in args or cwd, or install the dependencies there.',
    }),
  ],
  [
    /can't open file '([^']+)'/,
    (match) => ({ cause: `Python did not find the file ${match[1]}.`, fix: 'Correct the path in args or cwd.' }),
  ],
  [
    /ModuleNotFoundError: No module named '([^']+)'/,
    (match) => ({
      cause: `Python has no module ${match[1]} in this environment.`,
      fix: 'Install it, or name the Python of the right virtual environment as command.',
    }),
  ],
  [
    /not found in the package registry|No solution found when resolving/i,
    () => ({
      cause: 'uv did not find the package or a version of it that fits.',
      fix: 'Correct the package name or its version in args.',
    }),
  ],
  [
    /Cannot connect to the Docker daemon|docker daemon is not running|error during connect/i,
    () => ({ cause: 'Docker is not running.', fix: 'Start Docker, then restart the server.' }),
  ],
  [
    /Unable to find image|pull access denied|manifest unknown/i,
    () => ({ cause: 'Docker did not find the image.', fix: 'Correct the image name in args, or pull it first.' }),
  ],
  [
    /EADDRINUSE|address already in use/i,
    () => ({
      cause: 'A port that it needs is taken, perhaps by another instance of it.',
      fix: 'End the other program, or give the server another port.',
    }),
  ],
  [
    /(?:api[ _-]?key|token|secret|credential|environment variable|env var)\S*[^\n]{0,60}?(?:missing|required|not set|not provided|not found|must be|undefined)|(?:missing|requires?|set|provide)[^\n]{0,40}?(?:api[ _-]?key|[A-Z]{2,}_(?:TOKEN|KEY|SECRET)|environment variable)/i,
    () => ({
      cause: 'An environment variable that it needs seems to be missing.',
      fix: 'Set the variable under env of this server, e.g. NAME: { env: NAME }.',
    }),
  ],
  [
    /Unsupported engine|requires? Node(?:\.js)?\b|SyntaxError: (?:Unexpected token|The requested module)/i,
    () => ({
      cause: 'The server seems to need another version of Node.js.',
      fix: 'Update Node.js, or write the path of the right version as command.',
    }),
  ],
  [
    /command not found|is not recognized as an internal or external command/i,
    () => ({ cause: 'A command that it calls is not installed.', fix: 'Install the command that its output names.' }),
  ],
  [
    /(?:unknown|unrecognized|invalid|unexpected) (?:option|argument)|^usage:/im,
    () => ({ cause: 'It does not accept these arguments.', fix: 'Correct args as the output of the server says.' }),
  ],
];

export function likelyCause(
  exit: { readonly code: number | null; readonly signal: string | null },
  output: readonly string[],
): LikelyCause {
  const text = output.join('\n');
  for (const [pattern, explain] of clues) {
    const match = pattern.exec(text);
    if (match) return explain(match);
  }
  if (exit.signal === 'SIGKILL') {
    return {
      cause: 'The system or another program ended it, often because memory ran out.',
      fix: 'See how much memory is free, then restart it.',
    };
  }
  if (exit.signal !== null) {
    return { cause: 'Another program ended it, or it crashed.', fix: 'Look at the server’s log, then restart it.' };
  }
  if (exit.code === 127) {
    return { cause: 'A shell did not find the command it was told to run.', fix: 'Correct the command in args.' };
  }
  if (exit.code === 126) {
    return { cause: 'A shell was not allowed to run the command.', fix: 'Make the command executable.' };
  }
  if (exit.code === 0) {
    return {
      cause: 'It ended without an error, so it may not be an MCP server, or may need an argument such as `stdio`.',
      fix: 'Run the command in a terminal: an MCP server waits for input. Then correct command and args.',
    };
  }
  return {
    cause: 'The cause is in its last output, if there is any.',
    fix: 'Run the command in a terminal to see what is missing, then correct command, args or env.',
  };
}
