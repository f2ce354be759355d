#!/usr/bin/env node
/** The core without an editor (H1). A command starts only the servers that it needs, and ends everything before it exits. */
import { homedir } from 'node:os';
import path from 'node:path';
import { call } from './cli/callCommand.js';
import { nearestFolder, readConfig } from './cli/configFile.js';
import { writeEntries } from './cli/entriesCommand.js';
import { importFile } from './cli/importCommand.js';
import { prompt, prompts, read, resources } from './cli/offersCommands.js';
import { givenOptions, parseCommandLine, type Options } from './cli/options.js';
import { complain, complainOf, complainOfDefect, help, misuse, print, report, toJson } from './cli/output.js';
import { PersonsPermissions } from './cli/toolPermissions.js';
import { gatewayLines, servedBy, tokenFileFor } from './cli/gateways.js';
import { isOfFile, statusTable, tokenLines, toolsJson, toolsTable } from './cli/render.js';
import { directoryExists } from './core/host/assemble.js';
import { withServers, type Run } from './cli/withHost.js';
import type { Host } from './core/host/hostContract.js';
import type { ServerStatus } from './core/reconcile/status.js';
import { version } from '../package.json';

/** The exit codes: 0 is success, 1 is a problem of the config, the servers or the call, and 2 is a wrong command line. */
async function main(argv: string[]): Promise<number> {
  let parsed;
  try {
    parsed = parseCommandLine(argv);
  } catch (error) {
    return misuse((error as Error).message);
  }
  const { values, positionals } = parsed;
  if (values.version) return print(version);
  if (values.help) return help();
  const [name, ...words] = positionals;
  const folder = path.resolve(values.folder ?? (name === 'connect' ? nearestFolder(process.cwd(), homedir()) : '.'));
  if (!directoryExists(folder)) return misuse(`The folder ${folder} does not exist.`);
  const permissions = PersonsPermissions.read(homedir(), values);
  if (typeof permissions === 'string') return complain(permissions);
  if (name === undefined) return misuse('A command is missing.');
  const command = commands.get(name);
  if (!command) return misuse(`Unknown command "${name}".`);
  const tooMuch = words[command.most ?? words.length];
  if (tooMuch !== undefined) return misuse(`\`${name}\` does not take the argument "${tooMuch}".`);
  const untaken = givenOptions(values).find(
    (option) => !everyCommand.includes(option) && !command.takes?.includes(option),
  );
  if (untaken !== undefined) {
    const why = name === 'connect' && consents.includes(untaken) ? ` ${startsOnlyApproved}` : '';
    return misuse(`\`${name}\` does not take the option --${untaken}.${why}`);
  }
  serves = command.serves === true;
  // As in the editor, a defect must not end all conversations.
  if (serves) process.on('uncaughtException', complainOfDefect);
  const { json, debug, approve } = values;
  const guardianScript = path.join(__dirname, 'guardian.js');
  const run = { folder, json, debug, approve, permissions, guardianScript, script: __filename };
  return command.does(run, words, values);
}

type Takes = readonly (keyof Options)[];

const everyCommand: Takes = ['folder', 'json', 'debug'];
const consents: Takes = ['approve', 'approve-edits', 'yes'];
const permissionOptions: Takes = ['allow', 'ask', 'deny'];
const starting: Takes = ['approve', ...permissionOptions];

const startsOnlyApproved = 'An agent starts it, so it starts only what was approved: by `mcp-toolsets approve`.';

interface Command {
  /** The most arguments. By default, the command checks them. */
  readonly most?: number;
  /** True if the output of the command is incidental. */
  readonly serves?: boolean;
  /** The options beside those of every command. */
  readonly takes?: Takes;
  does(run: Run, words: readonly string[], options: Options): Promise<number> | number;
}

const commands = new Map<string, Command>(
  Object.entries<Command>({
    check: {
      most: 0,
      takes: [...starting, 'start'],
      does: (run, _, { start }) =>
        start
          ? withServers(run, ({ host: { snapshot } }) =>
              Math.max(
                report(run.json, snapshot.problems),
                snapshot.servers.some(({ state }) => state.kind === 'pending') ? 1 : 0,
              ),
            )
          : check(run),
    },
    status: { most: 0, takes: [...starting, 'token-file'], does: status },
    tools: { most: 1, takes: starting, does: (run, [id]) => withServers(run, ({ host }) => tools(run, host, id)) },
    call: {
      most: 2,
      takes: [...starting, 'answers'],
      does: (run, [tool, json], { answers }) => call(run, tool, json, answers),
    },
    resources: { most: 1, takes: starting, does: (run, [id]) => resources(run, id) },
    read: { most: 1, takes: [...starting, 'server'], does: (run, [uri], { server }) => read(run, uri, server) },
    prompts: { most: 1, takes: starting, does: (run, [id]) => prompts(run, id) },
    prompt: {
      most: 2,
      takes: [...starting, 'server'],
      does: (run, [name, json], { server }) => prompt(run, name, json, server),
    },
    explain: {
      most: 1,
      takes: starting,
      does: async (run, [tool]) => (await import('./cli/explainCommand.js')).explainTool(run, tool),
    },
    approve: {
      takes: [...permissionOptions, 'yes'],
      does: async (run, ids, { yes }) => (await import('./cli/approveCommand.js')).approve(run, ids, yes),
    },
    serve: {
      most: 0,
      takes: [...starting, 'port', 'token-file', 'approve-edits', 'hold-changed'],
      serves: true,
      does: async (run, _, options) => (await import('./cli/serveCommand.js')).serveFolder(run, options),
    },
    connect: {
      most: 1,
      takes: [...permissionOptions, 'token-file', 'hold-changed'],
      serves: true,
      does: async (run, [toolset], options) => (await import('./cli/connectCommand.js')).connect(run, toolset, options),
    },
    engine: {
      most: 0,
      takes: ['token-file'],
      serves: true,
      does: async (run, _, options) => (await import('./cli/engineCommand.js')).engine(run, options['token-file']),
    },
    stop: {
      most: 0,
      takes: ['token-file'],
      does: async (run, _, options) => (await import('./cli/engineCommand.js')).stop(run, options['token-file']),
    },
    entries: {
      most: 1,
      takes: ['write', 'token-file'],
      does: (run, [agent], options) => writeEntries(run, agent, options),
    },
    calls: {
      most: 2,
      takes: ['server', 'agent', 'failed', 'since', 'last', 'follow'],
      does: async (run, words, { server, agent, failed, since, last, follow }) =>
        (await import('./cli/callsCommand.js')).calls(run, words, { server, agent, failed, since, last, follow }),
    },
    record: {
      serves: true,
      does: async (run, [file, ...words]) => (await import('./cli/cassetteCommands.js')).record(run, file, words),
    },
    replay: {
      most: 1,
      serves: true,
      does: async (_, [file]) => (await import('./cli/cassetteCommands.js')).replay(file),
    },
    secret: { does: async ({ json }, words) => (await import('./cli/secretCommand.js')).secret(json, words) },
    import: {
      most: 1,
      takes: ['format', 'write'],
      does: (run, [file], { format, write }) => importFile(run, file, format, write),
    },
  }),
);

async function status(run: Run, _: unknown, options: Options): Promise<number> {
  const gateways = await servedBy(tokenFileFor(run.folder, options['token-file']));
  return withServers(run, ({ host: { snapshot } }) => {
    const { servers, problems } = snapshot;
    // These are in no row of the table.
    const others = problems.filter((one) => one.severity === 'error' && !servers.some(({ id }) => id === one.server));
    complainOf(others);
    const shown = gateways.map(({ program, pid, since, clients }) => ({ ...program, pid, since, clients }));
    print(run.json ? toJson({ ...snapshot, gateways: shown }) : statusTable(snapshot));
    if (!run.json) for (const line of [...tokenLines(snapshot), ...gatewayLines(gateways)]) print(line);
    return others.length > 0 || servers.some(isBroken) ? 1 : 0;
  });
}

function check(run: Run): number {
  const { sources, problems } = readConfig(run.folder);
  if (sources.every(({ text }) => text === undefined) && problems.length === 0 && !run.json) {
    return print(`The file ${sources[0]?.file} does not exist, so nothing is configured.`);
  }
  return report(run.json, problems);
}

function tools(run: Run, host: Host, id: string | undefined): number {
  const wanted = host.snapshot.servers.filter((server) => id === undefined || server.id === id);
  const { problems } = host.snapshot;
  const found = problems.filter(({ server: of }) => of === undefined || wanted.some((server) => server.id === of));
  complainOf(found.filter(({ severity }) => severity === 'error'));
  if (id !== undefined && wanted.length === 0) return complain(`There is no server "${id}".`);
  print(run.json ? toJson(wanted.map(toolsJson)) : toolsTable(wanted));
  return problems.some(isOfFile) || (id !== undefined && wanted.some(isBroken)) ? 1 : 0;
}

function isBroken({ state }: ServerStatus): boolean {
  return ['failed', 'invalid', 'signInNeeded', 'pending'].includes(state.kind);
}

let serves = false;
/** True if a part of the output is lost. */
let isCut = false;

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader of the output has ended, such as `head` or a terminal. This is not an error.
    if (serves || isCut || code === 'EPIPE' || code === 'EIO') return;
    isCut = true;
    if (process.exitCode === 0) process.exitCode = 1;
    if (stream === process.stdout) complain(`The output could not be written: ${message}`);
  });
}

void main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code === 0 && isCut ? 1 : code;
  },
  (error: unknown) => {
    complainOfDefect(error);
    process.exitCode = 70;
  },
);
