#!/usr/bin/env node
/** The core without an editor (H1). A command starts only the servers that it needs, and ends everything before it exits. */
import { homedir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { call } from './cli/callCommand.js';
import { nearestFolder, readConfigFiles } from './cli/configFile.js';
import { writeEntries } from './cli/entriesCommand.js';
import { importFile } from './cli/importCommand.js';
import { prompt, prompts, read, resources } from './cli/offersCommands.js';
import { complain, complainOf, complainOfDefect, help, misuse, print, report, toJson } from './cli/output.js';
import { PersonsPermissions } from './cli/toolPermissions.js';
import { gatewayLines, servedBy, tokenFileFor } from './cli/gateways.js';
import { isOfFile, statusTable, tokenLines, toolsJson, toolsTable } from './cli/render.js';
import { directoryExists } from './core/host/assemble.js';
import { configDeps, withServers, type Run } from './cli/withHost.js';
import { ConfigState } from './core/config/read/merge.js';
import type { Host } from './core/host/hostContract.js';
import type { ServerStatus } from './core/reconcile/status.js';
import { version } from '../package.json';

const usualPort = 7427;

/** The exit codes: 0 is success, 1 is a problem of the config, the servers or the call, and 2 is a wrong command line. */
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
        port: { type: 'string' },
        'token-file': { type: 'string' },
        'approve-edits': { type: 'boolean', default: false },
        approve: { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        'hold-changed': { type: 'boolean', default: false },
        server: { type: 'string' },
        agent: { type: 'string' },
        failed: { type: 'boolean', default: false },
        since: { type: 'string' },
        last: { type: 'string' },
        follow: { type: 'boolean', default: false },
        allow: { type: 'string', multiple: true },
        ask: { type: 'string', multiple: true },
        deny: { type: 'string', multiple: true },
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return misuse((error as Error).message);
  }
  const { values, positionals } = parsed;
  if (values.version) return print(version);
  if (values.help) return help();
  const [command, ...rest] = positionals;
  const folder = path.resolve(values.folder ?? (command === 'connect' ? nearestFolder(process.cwd(), homedir()) : '.'));
  if (!directoryExists(folder)) return misuse(`The folder ${folder} does not exist.`);
  const guardianScript = path.join(__dirname, 'guardian.js');
  const { allow, ask, deny, 'hold-changed': holdChanged } = values;
  const permissions = PersonsPermissions.read(homedir(), { allow, ask, deny });
  if (typeof permissions === 'string') return complain(permissions);
  const tooMuch = rest[mostArguments[command ?? ''] ?? rest.length];
  if (tooMuch !== undefined) return misuse(`\`${command}\` does not take the argument "${tooMuch}".`);
  const { json, debug, approve: approves } = values;
  const run = { folder, json, debug, approve: approves, permissions, guardianScript, script: __filename };
  serves = ['serve', 'connect', 'engine', 'record', 'replay'].includes(command ?? '');
  // As in the editor, a defect must not end all conversations.
  if (serves) process.on('uncaughtException', complainOfDefect);
  switch (command) {
    case 'check':
      if (!values.start) return check(run);
      return withServers(run, ({ host: { snapshot } }) =>
        Math.max(report(run.json, snapshot.problems), snapshot.servers.some(isPending) ? 1 : 0),
      );
    case 'status': {
      const gateways = await servedBy(tokenFileFor(folder, values['token-file']));
      return withServers(run, ({ host: { snapshot } }) => {
        const ofFiles = snapshot.problems.filter(isOfFile);
        complainOf(ofFiles);
        const shown = gateways.map(({ program, pid, since, clients }) => ({ ...program, pid, since, clients }));
        print(run.json ? toJson({ ...snapshot, gateways: shown }) : statusTable(snapshot));
        if (!run.json) for (const line of [...tokenLines(snapshot), ...gatewayLines(gateways)]) print(line);
        return ofFiles.length > 0 || snapshot.servers.some(isBroken) ? 1 : 0;
      });
    }
    case 'tools':
      return withServers(run, ({ host }) => tools(run, host, rest[0]));
    case 'call':
      return call(run, rest[0], rest[1], values.answers);
    case 'resources':
      return resources(run, rest[0]);
    case 'read':
      return read(run, rest[0], values.server);
    case 'prompts':
      return prompts(run, rest[0]);
    case 'prompt':
      return prompt(run, rest[0], rest[1], values.server);
    case 'entries':
      return writeEntries(run, { agent: rest[0], tokenFile: values['token-file'], write: values.write });
    case 'serve': {
      const port = readPort(values.port);
      if (port === undefined) return misuse(`"${values.port}" is not a port. Use a number from 0 to 65535.`);
      const { 'token-file': tokenFile, 'approve-edits': approveEdits } = values;
      const { serveFolder } = await import('./cli/serveCommand.js');
      return serveFolder(run, { port, tokenFile, approveEdits, holdChanged });
    }
    case 'approve': {
      const { approve } = await import('./cli/approveCommand.js');
      return approve(run, rest, values.yes);
    }
    case 'connect': {
      if (approves)
        return misuse('An agent starts `connect`, so it starts only what was approved: by `mcp-toolsets approve`.');
      const { connect } = await import('./cli/connectCommand.js');
      return connect(run, { toolset: rest[0], tokenFile: values['token-file'], holdChanged });
    }
    case 'engine': {
      const { engine } = await import('./cli/engineCommand.js');
      return engine(run, values['token-file']);
    }
    case 'stop': {
      const { stop } = await import('./cli/engineCommand.js');
      return stop(run, values['token-file']);
    }
    case 'calls': {
      const { calls } = await import('./cli/callsCommand.js');
      const { server, agent, failed, since, last, follow } = values;
      return calls(run, rest, { server, agent, failed, since, last, follow });
    }
    case 'record': {
      const { record } = await import('./cli/cassetteCommands.js');
      return record(run, rest[0], rest.slice(1));
    }
    case 'replay': {
      const { replay } = await import('./cli/cassetteCommands.js');
      return replay(rest[0]);
    }
    case 'explain': {
      const { explainTool } = await import('./cli/explainCommand.js');
      return explainTool(run, rest[0]);
    }
    case 'secret': {
      const { secret } = await import('./cli/secretCommand.js');
      return secret(run.json, rest[0], rest[1], rest.slice(2));
    }
    case 'import':
      return importFile(run, { file: rest[0], format: values.format, write: values.write });
    case undefined:
      return misuse('A command is missing.');
    default:
      return misuse(`Unknown command "${command}".`);
  }
}

/** The most arguments of each command. `secret` checks its arguments itself. */
const mostArguments: Readonly<Partial<Record<string, number>>> = {
  check: 0,
  status: 0,
  tools: 1,
  call: 2,
  resources: 1,
  read: 1,
  prompts: 1,
  prompt: 2,
  serve: 0,
  entries: 1,
  connect: 1,
  engine: 0,
  explain: 1,
  replay: 1,
  calls: 2,
  stop: 0,
  import: 1,
};

function check(run: Run): number {
  const { sources, problems } = readConfigFiles(run.folder);
  if (sources.every(({ text }) => text === undefined) && problems.length === 0 && !run.json) {
    return print(`The file ${sources[0]?.file} does not exist, so nothing is configured.`);
  }
  const found = new ConfigState().apply(sources, configDeps).problems;
  return report(run.json, [...problems, ...found]);
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

/** Returns the port for other agents, or undefined if the text is not a port. */
function readPort(text: string | undefined): number | undefined {
  const port = text === undefined ? usualPort : /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  return port >= 0 && port < 65_536 ? port : undefined;
}

function isBroken({ state }: ServerStatus): boolean {
  return ['failed', 'invalid', 'signInNeeded', 'pending'].includes(state.kind);
}

function isPending({ state }: ServerStatus): boolean {
  return state.kind === 'pending';
}

/** True for commands whose output is incidental. */
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
