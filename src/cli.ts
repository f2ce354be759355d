#!/usr/bin/env node
/**
 * The core without an editor (spec H1): checks a config file, shows what its servers publish, calls a tool. It starts
 * only what a command needs, and ends everything before it exits.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { problemLine, statusTable, toolsTable } from './cli/render.js';
import { systemClock } from './core/base/clock.js';
import { Redactor, type Log } from './core/base/log.js';
import type { Problem } from './core/base/problem.js';
import { ConfigState } from './core/config/merge.js';
import type { SourceText } from './core/config/model.js';
import { createConnector } from './core/connections/createConnector.js';
import { createHost } from './core/host.js';
import type { Host } from './core/hostContract.js';
import { builtInNames } from './core/tools/builtIn.js';
import { version } from '../package.json';

const usage = `Usage: mcp-toolsets <command> [options]

Commands
  check             report what is wrong with the config file; exits with 1 if anything is an error
                    (--start also starts the servers and checks what they offer)
  status            start the servers and show the state of each
  tools [server]    start the servers and list the published tools and those left out
  call <tool> [json]  call a published tool with arguments given as JSON; exits with 1 if it fails

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
  const run = { folder, json: values.json, debug: values.debug };
  switch (command) {
    case 'check':
      return values.start ? withHost(run, (host) => report(run, host.snapshot.problems)) : report(run, checkOnly(run));
    case 'status':
      return withHost(run, (host) => {
        print(run.json ? toJson(host.snapshot) : statusTable(host.snapshot));
        return host.snapshot.servers.some(({ state }) => state.kind === 'failed' || state.kind === 'invalid') ? 1 : 0;
      });
    case 'tools':
      return withHost(run, (host) => {
        const wanted = host.snapshot.servers.filter((server) => rest[0] === undefined || server.id === rest[0]);
        if (rest[0] !== undefined && wanted.length === 0) return complain(`There is no server "${rest[0]}".`);
        return print(
          run.json ? toJson(wanted.map(({ id, tools, excluded }) => ({ id, tools, excluded }))) : toolsTable(wanted),
        );
      });
    case 'call':
      return call(run, rest[0], rest[1]);
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
}

function sourcesOf(run: Run): SourceText[] {
  const file = path.join(run.folder, '.minds', 'mcp.yaml');
  return [{ file, folder: run.folder, text: existsSync(file) ? readFileSync(file, 'utf8') : undefined }];
}

function directoryExists(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}

function checkOnly(run: Run): readonly Problem[] {
  return new ConfigState().apply(sourcesOf(run), { env: process.env, directoryExists }).problems;
}

function report(run: Run, problems: readonly Problem[]): number {
  if (run.json) print(toJson(problems));
  else if (problems.length === 0) print('No problems.');
  else for (const problem of problems) print(problemLine(problem));
  return problems.some((problem) => problem.severity === 'error') ? 1 : 0;
}

async function call(run: Run, tool: string | undefined, json: string | undefined): Promise<number> {
  if (tool === undefined) return misuse('The name of a tool is missing.');
  let input: Record<string, unknown>;
  try {
    input = json === undefined ? {} : (JSON.parse(json) as Record<string, unknown>);
  } catch (error) {
    return misuse(`The arguments are not JSON: ${(error as Error).message}`);
  }
  return withHost(run, async (host) => {
    const toolset = host.catalogue.toolsets.find(({ tools }) => tools.some(({ published }) => published === tool));
    if (!toolset) {
      for (const problem of host.snapshot.problems) process.stderr.write(`${problemLine(problem)}\n`);
      return complain(`No toolset publishes a tool "${tool}". \`mcp-toolsets tools\` lists what there is.`);
    }
    const interrupt = new AbortController();
    const onInterrupt = (): void => interrupt.abort();
    process.once('SIGINT', onInterrupt);
    const outcome = await host.call({
      toolset: toolset.id,
      tool,
      arguments: input,
      dialog: 'command line',
      signal: interrupt.signal,
      onProgress: ({ progress, total, message }) =>
        process.stderr.write(
          `${progress}${total === undefined ? '' : ` of ${total}`}${message ? ` ${message}` : ''}\n`,
        ),
    });
    process.off('SIGINT', onInterrupt);
    if (outcome.kind === 'cancelled') return complain('Cancelled.');
    if (outcome.kind === 'error') return complain(`The server answered with error ${outcome.code}: ${outcome.message}`);
    const { result } = outcome;
    if (run.json) print(toJson(result));
    else {
      for (const part of result.content) print(part.type === 'text' ? part.text : JSON.stringify(part));
      if (result.structuredContent !== undefined && !result.content.some(({ type }) => type === 'text')) {
        print(toJson(result.structuredContent));
      }
    }
    return result.isError === true ? 1 : 0;
  });
}

async function withHost(run: Run, use: (host: Host) => number | Promise<number>): Promise<number> {
  const log: Log = {
    write: (level, message) => {
      if (run.debug) process.stderr.write(`[${level}] ${message}\n`);
    },
  };
  const serverLog = (server: string): Log => ({ write: (level, message) => log.write(level, `${server}: ${message}`) });
  const connector = createConnector({
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
    redactor: new Redactor(),
    env: process.env,
    connector,
    directoryExists,
    reservedNames: builtInNames,
    filteredTools: () => 'information',
  });
  try {
    await host.setSources(sourcesOf(run));
    return await use(host);
  } finally {
    await host.dispose();
    await connector.dispose();
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

void main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 70;
  },
);
