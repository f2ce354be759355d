/**
 * Writes the output of the command line. Functions return the exit code that goes with it: 0, 1, or
 * 2 for a wrong command line.
 */
import { withoutHidden, oneLine, visibleJson } from '../core/base/inert.js';
import type { Problem } from '../core/base/problem.js';
import { withoutSecrets } from '../core/base/secrets.js';
import { fileError } from '../core/base/systemError.js';
import { messageOf } from '../core/base/text.js';
import { inOrder, problemLine } from './render.js';

export const usage = `Usage: mcp-toolsets <command> [options]

Commands
  check             report the problems of the config file; exits with 1 if one is an error
                    (--start also starts the servers and checks what they offer)
  status            show the state of each server, and who serves the folder to agents
  tools [server]    list the published tools and those left out
  explain <tool>    say which agents get a tool, and why the others do not; exits with 1 if none does
  call <tool> [json]  call a published tool with arguments given as JSON; exits with 1 if it fails
                    (--answers JSON fills in the forms that the tool shows; other fields take the form's defaults)
  resources [server]  list resources and templates
  read <uri>        read a resource
  prompts [server]  list prompts
                    (status, tools, explain, resources and prompts show the servers of whoever serves the folder, or
                    start their own)
  prompt <name> [json]  get a prompt with arguments given as JSON
                    (--server ID, also for read: which server, if several have it)
  approve [server…] show the servers that wait for your approval, with all that they start, and ask
                    (--yes approves what is shown without a question)
  serve             serve the toolsets to other agents on this machine until you stop it
                    (--port N, by default 7427; --token-file FILE; --approve-edits starts whatever the files say, now and
                    later; --hold-changed hides tools, prompts and instructions that change or appear after the approval;
                    --max-instances N limits the instances of conversations, also for connect and its engine)
  connect [toolset] act as an MCP server over stdio with one toolset or all, for clients that start programs. It passes
                    calls on to the editor or \`serve\` of the folder if one runs. Otherwise it starts an engine, which all
                    \`connect\` of the folder share and which ends 60 s after the last of them. With --allow, --ask,
                    --deny or --hold-changed, it starts servers of its own. It starts only what you approved
  stop              end the engine of the folder, with its servers
  entries <agent>   show what an entry for all toolsets would change in the file of another agent: claude-code, codex,
                    copilot-cli, opencode, kilo, gemini-cli, qwen-code, cursor, cline, continue, windsurf or
                    antigravity, and what it starts that you have not approved (--write writes the entry and asks
                    about that; --yes approves it; --each makes an entry for each toolset)
  calls, calls export <file>
                    show the last calls of every agent on this folder, or write them to a file as JSON Lines
                    (--server ID, --agent NAME, --failed, --since 10m, --last N; --follow shows new ones as they end)
  record <file> -- <command>…
                    act as an MCP server over stdio in front of another one, and write what passes to the file
  replay <file>     act as an MCP server over stdio that answers from such a file
  secret set|delete <name>, secret list
                    store the value of { secret: NAME } in the keyring of the system; type it, or send it to stdin
  import <file>     show what importing another program's servers would change in .minds/mcp.yaml
                    (--format NAME names the program, --write writes it)

Options
  -C, --folder DIR  the folder that holds .minds/mcp.yaml (default: the current one; connect also looks
                    above it, up to the root of the repository)
  --approve         start all servers for this run, also those that wait for your approval, as in CI. Without it, a
                    terminal asks you, and elsewhere only approved servers start
  --json            print JSON
  --allow, --ask, --deny PATTERN
                    allow, ask about or refuse calls of the tools that PATTERN matches; wins over
                    ~/.minds/permissions.json, an object of such patterns. Questions appear on the terminal
  --debug           show the logs of the host and the servers and the JSON-RPC traffic, without secrets
  --help, --version
`;

let held: (() => void)[] | undefined;

function put(stream: NodeJS.WriteStream, text: string | Uint8Array): void {
  if (held && stream.isTTY) held.push(() => stream.write(text));
  else stream.write(text);
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Holds all other output to the terminal until `ask` has its answer. Questions wait for one
 * another.
 */
export function aloneOnTerminal<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const answer = last.then(async () => {
    const waiting: (() => void)[] = [];
    held = waiting;
    try {
      return await ask();
    } finally {
      held = undefined;
      for (const write of waiting) write();
    }
  });
  last = answer.catch(() => undefined);
  return answer;
}

export function print(text: string): 0 {
  put(process.stdout, `${withoutHidden(text)}\n`);
  return 0;
}

/**
 * Writes a requested text: unchanged to a file or a pipe, and without control characters to a
 * terminal.
 */
export function printContent(text: string): 0 {
  put(process.stdout, `${process.stdout.isTTY ? withoutHidden(text) : text}\n`);
  return 0;
}

export function passLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes bytes to a file or a pipe. A terminal could interpret them. */
export function printBytes(bytes: Uint8Array): number {
  if (process.stdout.isTTY) {
    const why = `This is not text (${bytes.length} bytes), so it is not written to the terminal.`;
    return complain(`${why} Send it to a file.`);
  }
  put(process.stdout, bytes);
  return 0;
}

/** Writes one line. Line breaks of a foreign text cannot begin another. */
export function complain(text: string): 1 {
  put(process.stderr, `${oneLine(text)}\n`);
  return 1;
}

export function reasonOf(error: unknown): string {
  return messageOf(error).replace(/\.$/, '');
}

/** An error of the file system is no defect: it gets a sentence and no stack. */
export function complainOfDefect(error: unknown): number {
  const ofFile = fileError(error);
  if (ofFile !== undefined) return complain(`A file cannot be used: ${ofFile}.`);
  complainLines(
    withoutSecrets(error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error)),
  );
  return 70;
}

/** Writes several lines of ours. Foreign values in it must have one line each. */
export function complainLines(text: string): 1 {
  put(process.stderr, `${withoutHidden(text)}\n`);
  return 1;
}

export function echo(text: string): void {
  process.stderr.write(text);
}

/** Writes the usage first, so that the error stays in sight on a small terminal. */
export function misuse(text: string): 2 {
  put(process.stderr, `${usage}\n${oneLine(text)}\n`);
  return 2;
}

/**
 * Writes only lines that were not in the last list. @param subjectOf returns the same text for
 * lines of the same news
 */
export function newLines(
  write: (line: string) => void,
  subjectOf = (line: string): string => line,
) {
  let last: readonly string[] = [];
  return (lines: readonly string[]): void => {
    const subjects = lines.map(subjectOf);
    for (const [index, line] of lines.entries())
      if (!last.includes(subjects[index] ?? '')) write(line);
    last = subjects;
  };
}

export function toJson(value: unknown): string {
  return visibleJson(JSON.stringify(value, null, 2));
}

export function complainOf(problems: readonly Problem[]): void {
  for (const problem of problems) complain(problemLine(problem));
}

export function report(json: boolean, problems: readonly Problem[]): number {
  if (json) print(toJson(inOrder(problems)));
  else if (problems.length === 0) print('No problems.');
  else for (const problem of inOrder(problems)) print(problemLine(problem));
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
}
