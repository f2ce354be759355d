/** The help of the command line: the list of its commands, and a page for each. Pure. */
import type { Options } from './options.js';

/** The arguments of a command, a sentence for the list, and what else its page says. */
const commandTexts: Readonly<Record<string, string>> = {
  check: `
Reports the problems of the config files and of .minds/team.yaml.
It exits with 1 if a problem is an error, or if the folder of -C has no config file.`,
  pin: `[server…]
Shows the edits that pin packages to the versions that run.
A pin is a new launch, so it waits for approval. Only versions of npm's packages are known.`,
  status: `
Shows the state of each server, and who serves the folder to agents.`,
  tools: `[server]
Lists the published tools, and the others with the reason.
With --use, it shows how often each was called, and the change that keeps out what nobody calls.`,
  explain: `<tool> [json]
Says which agents get a tool, and why the others do not.
The tool may have any of its names. With the arguments of a call, it also says whether your
permissions allow the call. It exits with 1 if no agent gets the tool or the call is denied.`,
  call: `<tool> [json]
Calls a tool by its published name.
The arguments are a JSON object, such as '{"path":"README.md"}'. It exits with 1 if the call fails.`,
  resources: `[server]
Lists resources and templates.`,
  read: `<uri>
Reads a resource.`,
  prompts: `[server]
Lists prompts.`,
  prompt: `<name> [json]
Gets a prompt.
The arguments are a JSON object, such as '{"topic":"x"}'.`,
  approve: `[server…]
Shows the servers that wait for approval, and asks.
If a named server waits for nothing, it shows what changed in the tools of this server.`,
  lock: `[server…]
Shows what .minds/mcp.lock would hold of the tools of the servers.
It starts them without .minds/mcp.local.yaml. With --write it writes the file, which a team commits.`,
  serve: `
Serves the toolsets to other agents on this machine until you stop it.`,
  connect: `[toolset]
Acts as an MCP server over stdio with one toolset or all.
The file of an agent starts it. It passes calls on to the editor or the \`serve\` of the folder. If
there is neither, it starts an engine. All \`connect\` of the folder share this engine, which ends
60 s after the last of them. With --allow, --ask, --deny, --hold-changed or --no-local, it has its
own servers. It starts only approved servers. Without -C, it also looks for a config file above the
current folder, up to the root of the repository.`,
  stop: `
Ends the engines behind \`connect\` of the folder, with their servers.`,
  entries: `<agent>
Shows the entry for the file of another agent, and what it starts.
The agents are claude-code, codex, copilot-cli, opencode, kilo, gemini-cli, qwen-code, cursor,
cline, continue, windsurf and antigravity.`,
  calls: `[export <file>]
Shows the last calls of every agent in this folder, or writes all to a file.`,
  record: `<file> -- <command>
Acts as an MCP server in front of another one, and writes what passes to the file.`,
  replay: `<file>
Acts as an MCP server that answers from such a file.`,
  login: `[server…]
Signs you in to servers that need it, for every agent outside the editor.
It opens your browser. Without a browser, over SSH or with --no-browser, it prints the address and
asks for the address to which the browser was sent at the end.`,
  logout: `<server>
Signs you out of a server, and revokes its tokens.`,
  secret: `set|delete|list [name]
Keeps the value of { secret: NAME } in the keyring of the system.
Type the value, or send it to stdin.`,
  import: `<file>
Shows the effect of importing the servers of another program.`,
};

/** The name of the option is behind the first `--` of each line. */
const optionTexts = `
  --start             Starts the servers too, and checks names and patterns against their tools.
  --pinned            Makes each version that is not pinned an error.
  --latest            Pins to the newest version, by npm with your configuration.
  --max-tokens N      With --start: exits with 1 if the tools cost more tokens in each request.
  --answers JSON      Answers a form of the tool. Other fields take its defaults.
  --format NAME       The program of the file, if the file does not show it.
  --use               Shows the calls of each tool. Tools without a call come first.
  --by tool           Shows the calls of each tool in the last 90 days.
  --write             Writes what it shows.
  --local             Writes .minds/mcp.local.yaml, which counts only for you.
  --no-local          Leaves out .minds/mcp.local.yaml, as for a colleague.
  --no-browser        Prints the address of the sign-in in place of opening it.
  --each              Makes an entry for each toolset in place of one for all.
  --port N            The port, by default 7427. 0 takes any free port.
  --token-file FILE   Uses the token in this file.
  --approve-edits     Starts everything in the files, now and after each edit.
  --approve           Starts servers that wait for approval too, for this run only, as in CI.
  --yes               Approves what it shows without a question.
  --hold-changed      Keeps offers that changed since the approval from agents.
  --max-instances N   Limits the instances of conversations.
  --server ID         Chooses one server.
  --agent NAME        Shows only the calls of this agent.
  --failed            Shows only calls that failed.
  --since AGE         Shows only newer calls, such as those of the last 10m.
  --last N            The most calls, by default 50. An export has all.
  --follow            Shows new calls as they end.
  --allow PATTERN     Allows calls of these tools. You can repeat it.
  --ask PATTERN       Asks on the terminal before calls of these tools.
  --deny PATTERN      Denies calls of these tools.
  -C, --folder DIR    The folder with .minds/mcp.yaml, by default the current one.
  --json              Prints JSON.
  --debug             Prints the logs and the JSON-RPC traffic, without secrets.`;

/** Returns the page of a command, or the list of all commands. @param takes the options of it */
export function helpOf(command = '', takes: readonly (keyof Options)[] = []): string {
  const [words, summary, ...more] = commandTexts[command]?.split('\n') ?? [];
  if (summary === undefined) return listOfCommands();
  const isTaken = (line: string): boolean =>
    takes.some((option) => line.replace(/^.*?--/, '').startsWith(`${option} `));
  return [
    `Usage: mcp-toolsets ${`${command} ${words}`.trim()} [options]\n`,
    summary,
    ...more,
    '\nOptions',
    ...optionTexts.split('\n').filter(isTaken),
  ].join('\n');
}

function listOfCommands(): string {
  const commands = Object.entries(commandTexts).map(([name, text]) => {
    const [words, summary] = text.split('\n');
    return `  ${`${name} ${words}`.padEnd(29)} ${summary}`;
  });
  return `Usage: mcp-toolsets <command> [options]

${commands.join('\n')}

\`mcp-toolsets <command> --help\` explains a command and its options.
--version prints the version.`;
}
