/**
 * Writes what the command line says, each with the exit code that goes with it: 0 is well, 1 means that something is
 * wrong, and 2 that it was used wrongly.
 */
import { forTerminal, oneLine, visibleJson } from '../core/base/inert.js';
import type { Problem } from '../core/base/problem.js';
import { inOrder, problemLine } from './render.js';

const usage = `Usage: mcp-toolsets <command> [options]

Commands
  check             report what is wrong with the config file; exits with 1 if anything is an error
                    (--start also starts the servers and checks what they offer)
  status            start the servers and show the state of each
  tools [server]    start the servers and list the published tools and those left out
  call <tool> [json]  call a published tool with arguments given as JSON; exits with 1 if it fails
                    (--answers JSON answers what it asks by a form; what that leaves out takes the form's default)
  resources [server]  start the servers and list their resources and templates
  read <uri>        read a resource
  prompts [server]  start the servers and list their prompts
  prompt <name> [json]  get a prompt with arguments given as JSON
                    (--server ID, for read too: the one that is meant where several have it)
  approve [server…] show what servers would start that you have not approved, and ask whether they may
                    (--yes approves what is shown without asking)
  serve             serve the toolsets to other agents of this machine until it is told to end
                    (--port N, by default 7427; --token-file FILE; --approve-edits starts whatever the files say, now and
                    later; --hold-changed keeps tools, prompts and instructions from agents that change or come after the
                    start)
  connect [toolset] be an MCP server over stdio with the tools of one toolset or of all, for a client that starts programs:
                    passes on to the editor or \`serve\` of the folder; serves it alone where there is none, and always with
                    --allow, --ask, --deny or --hold-changed. It starts only what you approved
  headers           print the header with the token, once whoever listens has proved to know it; the helpers in entries do
                    (--port and --token-file as for serve)
  renew-token       make a new token for other agents of the folder and cut off whoever shows the old one (--token-file FILE)
  entries <agent>   show what entries for the toolsets would change in the file of another agent: claude-code, codex,
                    copilot-cli, opencode, kilo, gemini-cli, qwen-code, cursor, cline, continue, windsurf or
                    antigravity, and what they start that you have not approved (--write writes the entries and approves
                    that; --port and --token-file as for serve)
  secret set|delete <name>, secret list
                    keep the value of { secret: NAME } in the keyring of the system; it is typed, or read from stdin
  import <file>     show what importing another program's servers would change in .minds/mcp.yaml
                    (--format NAME names the program, --write writes it)

Options
  -C, --folder DIR  the folder that holds .minds/mcp.yaml (default: the current one)
  --approve         let servers start for this run that you have not approved; without it you are asked at the terminal, and
                    elsewhere they wait
  --json            print JSON
  --allow, --ask, --deny PATTERN
                    what may be called of the tools that PATTERN matches; goes before ~/.minds/permissions.json, which
                    holds the same as an object of patterns. What is to be asked about is asked on the terminal
  --debug           show the host's and the servers' logs and the JSON-RPC traffic, secrets removed
  --help, --version
`;

/** What waits until a question on the terminal is answered. */
let held: (() => void)[] | undefined;

function put(stream: NodeJS.WriteStream, text: string | Uint8Array): void {
  if (held && stream.isTTY) held.push(() => stream.write(text));
  else stream.write(text);
}

/** Lets nothing else be written to the terminal until `ask` has its answer. One question stands at a time. */
export async function aloneOnTerminal<Answer>(
  ask: (write: (text: string) => void) => Promise<Answer>,
): Promise<Answer> {
  const waiting: (() => void)[] = [];
  held = waiting;
  try {
    return await ask((text) => void process.stderr.write(forTerminal(text)));
  } finally {
    held = undefined;
    for (const write of waiting) write();
  }
}

export function print(text: string): 0 {
  put(process.stdout, `${forTerminal(text)}\n`);
  return 0;
}

/** Writes a text that a person asked for: a file or a pipe gets it as it is, and a terminal so that it cannot act there. */
export function printContent(text: string): 0 {
  put(process.stdout, `${process.stdout.isTTY ? forTerminal(text) : text}\n`);
  return 0;
}

/** Writes what is no text, to a file or a pipe. A terminal would act on it. */
export function printBytes(bytes: Uint8Array): number {
  if (process.stdout.isTTY) {
    return complain(
      `This is not text (${bytes.length} bytes), so it is not written to the terminal. Send it to a file.`,
    );
  }
  put(process.stdout, bytes);
  return 0;
}

/** Writes one line: what a text from outside has of line breaks cannot begin another. */
export function complain(text: string): 1 {
  put(process.stderr, `${oneLine(text)}\n`);
  return 1;
}

/** Returns what an error says, to stand within a sentence. */
export function reasonOf(error: unknown): string {
  return (error as Error).message.replace(/\.$/, '');
}

/** Writes a text of ours that has several lines. Each value in it has to stand on one. */
export function complainLines(text: string): 1 {
  put(process.stderr, `${forTerminal(text)}\n`);
  return 1;
}

/** Writes a question, behind which the person types. */
export function ask(text: string): void {
  process.stderr.write(`${forTerminal(text)} `);
}

/** Shows behind a question what the person types, as it is. */
export function echo(text: string): void {
  process.stderr.write(text);
}

/** Writes the usage first: it is longer than a terminal is high, and what is wrong has to stay in sight. */
export function misuse(text: string): 2 {
  put(process.stderr, `${usage}\n${oneLine(text)}\n`);
  return 2;
}

export function help(): 0 {
  return print(usage.trimEnd());
}

/** Writes those of the lines that hold now that did not hold before. */
export class NewLines {
  private last: readonly string[] = [];

  constructor(private readonly write: (line: string) => void) {}

  say(lines: readonly string[]): void {
    for (const line of lines) if (!this.last.includes(line)) this.write(line);
    this.last = lines;
  }
}

export function toJson(value: unknown): string {
  return visibleJson(JSON.stringify(value, null, 2));
}

/** Writes each to stderr, in this order. */
export function complainOf(problems: readonly Problem[]): void {
  for (const problem of problems) complain(problemLine(problem));
}

export function report(json: boolean, problems: readonly Problem[]): number {
  if (json) print(toJson(inOrder(problems)));
  else if (problems.length === 0) print('No problems.');
  else for (const problem of inOrder(problems)) print(problemLine(problem));
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
}
