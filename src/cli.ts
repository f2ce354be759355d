#!/usr/bin/env node
/**
 * The core without an editor (spec H1): checks a config file, shows what its servers publish, calls a tool. It starts
 * only what a command needs, and ends everything before it exits.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { untilCallable } from './cli/callable.js';
import { readConfigFiles } from './cli/configFile.js';
import { formAnswers } from './cli/formAnswers.js';
import { forgetfulSecrets } from './cli/forgetfulSecrets.js';
import { importFormats, isImportFormat, runImport } from './cli/importCommand.js';
import { Interruption } from './cli/interruption.js';
import { readObject } from './cli/jsonObject.js';
import { inOrder, problemLine, resultTexts, statusTable, toolsTable } from './cli/render.js';
import { systemClock } from './core/base/clock.js';
import { Redactor, redactingLog, type Log } from './core/base/log.js';
import type { Problem } from './core/base/problem.js';
import { ConfigState } from './core/config/merge.js';
import { createConnector } from './core/connections/createConnector.js';
import { OAuth } from './core/connections/oauth.js';
import { noClient, type Fields, type ServerClient } from './core/connections/serverClient.js';
import { createHost } from './core/host.js';
import type { Host } from './core/hostContract.js';
import type { ServerStatus } from './core/reconcile/status.js';
import { builtInNames } from './core/tools/builtIn.js';
import { version } from '../package.json';

const usage = `Usage: mcp-toolsets <command> [options]

Commands
  check             report what is wrong with the config file; exits with 1 if anything is an error
                    (--start also starts the servers and checks what they offer)
  status            start the servers and show the state of each
  tools [server]    start the servers and list the published tools and those left out
  call <tool> [json]  call a published tool with arguments given as JSON; exits with 1 if it fails
                    (--answers JSON answers what it asks by a form; what that leaves out takes the form's default)
  import <file>     show what importing another program's servers would change in .minds/mcp.yaml
                    (--format NAME names the program, --write writes it)

Options
  -C, --folder DIR  the folder that holds .minds/mcp.yaml (default: the current one)
  --json            print JSON
  --debug           show the host's and the servers' logs and the JSON-RPC traffic, secrets removed
  --help, --version
`;

/** Exit codes: 0 well, 1 something is wrong with config, servers or the call, 2 the command line itself. */
async function main(argv: string[]): Promise<number> {
  let parsed;
  try {
    parsed = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        folder: { type: 'string', short: 'C' },
        json: { type: 'boolean', default: false },
        debug: { type: 'boolean', default: false },
        start: { type: 'boolean', default: false },
        answers: { type: 'string' },
        format: { type: 'string' },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return misuse((error as Error).message);
  }
  const { values, positionals } = parsed;
  if (values.version) return print(version);
  if (values.help) return print(usage.trimEnd());
  const [command, ...rest] = positionals;
  const folder = path.resolve(values.folder ?? '.');
  if (!directoryExists(folder)) return misuse(`There is no folder ${folder}.`);
  const run = { folder, json: values.json, debug: values.debug };
  switch (command) {
    case 'check':
      return values.start ? withServers(run, ({ host }) => report(run, host.snapshot.problems)) : check(run);
    case 'status':
      return withServers(run, ({ host }) => {
        print(run.json ? toJson(host.snapshot) : statusTable(host.snapshot));
        return host.snapshot.servers.some(isBroken) ? 1 : 0;
      });
    case 'tools':
      return withServers(run, ({ host }) => tools(run, host, rest[0]));
    case 'call':
      return call(run, rest[0], rest[1], values.answers);
    case 'import':
      return importFile(run, rest[0], values.format, values.write);
    case undefined:
      return misuse('A command is missing.');
    default:
      return misuse(`There is no command "${command}".`);
  }
}

interface Run {
  readonly folder: string;
  readonly json: boolean;
  readonly debug: boolean;
  /** To what a called tool asks by forms; undefined: it is told that nobody can be asked. */
  readonly answers?: Fields | undefined;
}

/** A host that has been given the config file. */
interface Session {
  readonly host: Host;
  /** Resolves when every server has started or failed. */
  readonly started: Promise<void>;
  /** Aborted when the process is told to end. */
  readonly signal: AbortSignal;
  readonly client: ServerClient | undefined;
}

function directoryExists(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}

function check(run: Run): number {
  const { sources, problems } = readConfigFiles(run.folder);
  if (sources.every(({ text }) => text === undefined) && problems.length === 0 && !run.json) {
    return print(`There is no file ${sources[0]?.file}: nothing is configured.`);
  }
  const found = new ConfigState().apply(sources, { env: process.env, directoryExists }).problems;
  return report(run, [...problems, ...found]);
}

function report(run: Run, problems: readonly Problem[]): number {
  if (run.json) print(toJson(inOrder(problems)));
  else if (problems.length === 0) print('No problems.');
  else for (const problem of inOrder(problems)) print(problemLine(problem));
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
}

function tools(run: Run, host: Host, id: string | undefined): number {
  const wanted = host.snapshot.servers.filter((server) => id === undefined || server.id === id);
  if (id !== undefined && wanted.length === 0) return complain(`There is no server "${id}".`);
  for (const problem of host.snapshot.problems) {
    const concerns = problem.server === undefined || wanted.some((server) => server.id === problem.server);
    if (concerns && problem.severity === 'error') complain(problemLine(problem));
  }
  print(run.json ? toJson(wanted.map(({ id, tools, excluded }) => ({ id, tools, excluded }))) : toolsTable(wanted));
  return id !== undefined && wanted.some(isBroken) ? 1 : 0;
}

function importFile(run: Run, file: string | undefined, format: string | undefined, write: boolean): number {
  if (file === undefined) return misuse('The name of a file is missing.');
  if (format !== undefined && !isImportFormat(format)) {
    return misuse(`There is no format "${format}". Known are ${importFormats.join(', ')}.`);
  }
  const outcome = runImport({ folder: run.folder, file, format, write });
  if (outcome.kind === 'impossible') return complain(`Nothing was imported: ${outcome.reason}.`);
  const { difference, report, imported, target } = outcome;
  if (run.json) print(toJson(imported));
  else {
    if (difference !== '') print(difference);
    complain(report.trimEnd());
    if (difference !== '') complain(write ? `\n${target} is written.` : '\nNothing is written yet: --write does it.');
  }
  return imported.servers.length > 0 ? 0 : 1;
}

function isBroken({ state }: ServerStatus): boolean {
  return state.kind === 'failed' || state.kind === 'invalid' || state.kind === 'signInNeeded';
}

async function call(
  run: Run,
  tool: string | undefined,
  json: string | undefined,
  answersJson: string | undefined,
): Promise<number> {
  if (tool === undefined) return misuse('The name of a tool is missing.');
  const args = readObject('The arguments', json ?? '{}');
  const answers = answersJson === undefined ? undefined : readObject('The answers', answersJson);
  for (const read of [args, answers]) if (typeof read === 'string') return misuse(read);
  if (typeof args === 'string' || typeof answers === 'string') return 2;
  return withHost({ ...run, answers }, async ({ host, started, signal, client }) => {
    const toolset = await untilCallable(host, tool, started);
    if (signal.aborted) return 1;
    if (!toolset) {
      for (const problem of inOrder(host.snapshot.problems)) complain(problemLine(problem));
      return complain(`No toolset publishes a tool "${tool}". \`mcp-toolsets tools\` lists what there is.`);
    }
    const outcome = await host.call({
      toolset: toolset.id,
      tool,
      arguments: args,
      dialog: 'command line',
      signal,
      client,
      onProgress: ({ progress, total, message }) =>
        complain(`${progress}${total === undefined ? '' : ` of ${total}`}${message ? ` ${message}` : ''}`),
    });
    if (outcome.kind === 'cancelled') return complain('Cancelled.');
    if (outcome.kind === 'error') return complain(`The server answered with error ${outcome.code}: ${outcome.message}`);
    const { result } = outcome;
    for (const text of run.json ? [toJson(result)] : resultTexts(result)) print(text);
    return result.isError === true ? 1 : 0;
  });
}

/** For commands that need all servers. */
function withServers(run: Run, use: (session: Session) => number): Promise<number> {
  return withHost(run, async (session) => {
    await session.started;
    return session.signal.aborted ? 1 : use(session);
  });
}

async function withHost(run: Run, use: (session: Session) => Promise<number>): Promise<number> {
  const { sources, problems } = readConfigFiles(run.folder);
  if (problems.length > 0) return report(run, problems);
  const log: Log = {
    write: (level, message) => {
      if (run.debug) complain(`[${level}] ${message}`);
    },
  };
  const serverLog = (server: string): Log => ({ write: (level, message) => log.write(level, `${server}: ${message}`) });
  const interruption = new Interruption();
  const redactor = new Redactor();
  const client = run.answers && formAnswers(run.answers, (text) => complain(redactor.redact(text)));
  const oauth = new OAuth({
    secrets: forgetfulSecrets,
    clock: systemClock,
    log: redactingLog(log, redactor),
    keepSecret: (values) => redactor.register(values),
    clientVersion: version,
  });
  const connector = createConnector({
    oauth,
    env: process.env,
    clock: systemClock,
    trace: () => run.debug,
    clientVersion: version,
    guardianScript: path.join(__dirname, 'guardian.js'),
  });
  const host = createHost({
    clock: systemClock,
    log,
    serverLog,
    redactor,
    signIns: oauth,
    env: process.env,
    connector,
    directoryExists,
    reservedNames: builtInNames,
    filteredTools: () => 'information',
    expectedClient: () => ({ ...noClient, ...(client && { capabilities: client.capabilities }) }),
  });
  try {
    const started = host.setSources(sources);
    return await Promise.race([use({ host, started, client, signal: interruption.signal }), interruption.exitCode]);
  } finally {
    await host.dispose();
    await connector.dispose();
    oauth.dispose();
    interruption.dispose();
  }
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function complain(text: string): number {
  process.stderr.write(`${text}\n`);
  return 1;
}

function misuse(text: string): number {
  process.stderr.write(`${text}\n\n${usage}`);
  return 2;
}

// Whoever read the output has gone, `head` for one: that is no error of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

void main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 70;
  },
);
