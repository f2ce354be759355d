#!/usr/bin/env node
/**
 * The core without an editor (H1). A command starts only the servers that it needs, and ends
 * everything before it exits.
 */
import path from 'node:path';
import { hasHome, homedir } from './core/base/home.js';
import { leadsOut, nearestFolder } from './cli/configFile.js';
import { importFile, writeEntries } from './cli/changeCommands.js';
import { call, prompt, prompts, read, resources, tools } from './cli/offersCommands.js';
import { helpOf } from './cli/help.js';
import { givenOptions, parseCommandLine, type Options, type Words } from './cli/options.js';
import { complain, complainOf, complainOfDefect, misuse, print, toJson } from './cli/output.js';
import { PersonsPermissions } from './cli/toolPermissions.js';
import { elsewhereLines, gatewayLines } from './cli/gateways.js';
import { isBroken, localLines, packageLines, statusTable, tokenLines } from './cli/render.js';
import { directoryExists } from './core/assembly/assemble.js';
import { forgetNpm } from './core/processes/environment.js';
import type { Run } from './cli/withEngine.js';
import { withSnapshot } from './cli/withSnapshot.js';
import { version } from '../package.json';

/**
 * The exit codes: 0 is success, 1 is a problem of the config, the servers or the call, and 2 is a
 * wrong command line.
 */
async function main(argv: string[]): Promise<number> {
  let parsed;
  try {
    parsed = parseCommandLine(argv);
  } catch (error) {
    return misuse(`${(error as Error).message.split(/\. |\.?\n/, 1)[0]}.`);
  }
  const { values, positionals } = parsed;
  if (values.version) return print(version);
  const [name, ...words] = positionals;
  const command = commands.get(name ?? '');
  if (values.help && (command || name === undefined))
    return print(helpOf(name, command && takenBy(command)));
  const isConnect = name === 'connect';
  if (isConnect) {
    const refusal = refusalOfFolders(values);
    if (refusal !== undefined) return misuse(refusal);
  }
  const found = isConnect ? nearestFolder(process.cwd(), homedir()) : '.';
  const folder = path.resolve(values.folder ?? found);
  if (!directoryExists(folder)) return misuse(`The folder ${folder} does not exist.`);
  const permissions = await PersonsPermissions.read(homedir(), values, isConnect);
  if (typeof permissions === 'string') return complain(permissions);
  if (name === undefined) return misuse('A command is missing.');
  if (!command) return misuse(`Unknown command "${name}".`);
  const refusal = refusalOfWords(name, command, words) ?? refusalOfOptions(name, command, values);
  if (refusal !== undefined) return misuse(refusal);
  if (!hasHome()) {
    const isServe = name === 'serve';
    const keepsToken = isServe && values['token-file'] !== undefined;
    const fix = isServe && !keepsToken ? ' `serve` needs --token-file FILE then.' : '';
    complain(
      `HOME names no folder by an absolute path, so nothing is approved, and nothing of yours is read or kept.${fix}`,
    );
    if (!keepsToken && (!command.needsNoHome || values.start)) return 1;
  }
  serves = command.serves === true;
  // As in the editor, a defect must not end all conversations.
  if (serves) process.on('uncaughtException', complainOfDefect);
  const { json, debug, approve, 'max-instances': most } = values;
  if (most !== undefined && !/^[1-9]\d*$/.test(most))
    return misuse(`"${most}" is not a number of instances. Use a whole number from 1.`);
  const guardianScript = path.join(__dirname, 'guardian.js');
  const run = {
    folder,
    json,
    debug,
    approve,
    permissions,
    guardianScript,
    script: __filename,
    withoutLocal: values['no-local'],
    maxInstances: most === undefined ? undefined : Number(most),
  };
  return command.does(run, words, values);
}

/** An entry of a repository stays in its repository (G6f). */
function refusalOfFolders(values: Options): string | undefined {
  const launcher = require.main?.filename;
  const outside = (['folder', 'token-file'] as const).find((option) =>
    leadsOut(values[option] ?? '.', process.cwd(), homedir(), launcher),
  );
  if (outside === undefined) return undefined;
  const why =
    'an entry of a repository must not reach your other folders. Start ~/.minds/bin/mcp-toolsets.js with node';
  return `In a repository, \`connect\` takes no --${outside} outside it: ${why}.`;
}

function takenBy({ takes = [] }: Command): Takes {
  return [...takes, ...everyCommand];
}

function refusalOfWords(name: string, command: Command, words: Words): string | undefined {
  if (command.needs !== undefined && words.length === 0) return `${command.needs} is missing.`;
  const tooMuch = words[command.most ?? words.length];
  return tooMuch === undefined ? undefined : `\`${name}\` does not take the argument "${tooMuch}".`;
}

function refusalOfOptions(name: string, command: Command, values: Options): string | undefined {
  const takes = takenBy(command);
  const untaken = givenOptions(values).find((option) => !takes.includes(option));
  if (untaken === undefined) return undefined;
  const refusal = `\`${name}\` does not take the option --${untaken}.`;
  const isConsent = name === 'connect' && consents.includes(untaken);
  return isConsent
    ? `${refusal} An agent starts it, so it starts only what was approved: by \`mcp-toolsets approve\`.`
    : refusal;
}

type Takes = readonly (keyof Options)[];

const everyCommand: Takes = ['folder', 'json', 'debug'];
const consents: Takes = ['approve', 'approve-edits', 'yes'];
const permissionOptions: Takes = ['allow', 'ask', 'deny'];
const starting: Takes = ['approve', 'no-local', ...permissionOptions];

type Does = (run: Run, words: Words, options: Options) => Promise<number> | number;

interface Command {
  /** The first argument, if it must be there. */
  readonly needs?: string;
  /** The most arguments. By default, the command checks them. */
  readonly most?: number;
  /** True if the command works without the person's own files. */
  readonly needsNoHome?: boolean;
  /** True if the output of the command is incidental. */
  readonly serves?: boolean;
  readonly takes?: Takes;
  readonly does: Does;
}

function lazily<Name extends string>(
  part: () => Promise<Readonly<Record<Name, Does>>>,
  name: Name,
): Does {
  return async (...given) => await (await part())[name](...given);
}

const explaining = () => import('./cli/explainCommand.js');
const record = () => import('./cli/callsCommand.js');
const use = (name: 'toolsByUse' | 'callsByTool') =>
  lazily(() => import('./cli/useCommands.js'), name);
const serving = () => import('./cli/serveCommand.js');
const signing = () => import('./cli/signInCommands.js');
const cassettes = () => import('./cli/cassetteCommands.js');

const commands = new Map<string, Command>(
  Object.entries<Command>({
    check: {
      most: 0,
      needsNoHome: true,
      takes: [...starting, 'start', 'pinned', 'max-tokens'],
      does: lazily(() => import('./cli/checkCommand.js'), 'check'),
    },
    pin: {
      takes: [...starting, 'token-file', 'write', 'latest'],
      does: lazily(() => import('./cli/pinCommand.js'), 'pin'),
    },
    status: {
      most: 0,
      takes: [...starting, 'token-file'],
      does: status,
    },
    tools: {
      most: 1,
      takes: [...starting, 'use', 'write', 'local'],
      does: (...given) => (given[2].use ? use('toolsByUse')(...given) : tools(...given)),
    },
    call: {
      needs: 'The name of a tool',
      most: 2,
      takes: [...starting, 'answers'],
      does: call,
    },
    resources: {
      most: 1,
      takes: starting,
      does: resources,
    },
    read: {
      needs: 'The URI of a resource',
      most: 1,
      takes: [...starting, 'server'],
      does: read,
    },
    prompts: {
      most: 1,
      takes: starting,
      does: prompts,
    },
    prompt: {
      needs: 'The name of a prompt',
      most: 2,
      takes: [...starting, 'server'],
      does: prompt,
    },
    explain: {
      needs: 'The name of a tool',
      most: 2,
      takes: starting,
      does: lazily(explaining, 'explainTool'),
    },
    approve: {
      takes: [...permissionOptions, 'no-local', 'yes'],
      does: lazily(() => import('./cli/approveCommand.js'), 'approve'),
    },
    lock: {
      takes: ['approve', 'write'],
      does: lazily(() => import('./cli/lockCommand.js'), 'lock'),
    },
    serve: {
      most: 0,
      takes: [...starting, 'port', 'token-file', 'approve-edits', 'hold-changed', 'max-instances'],
      serves: true,
      does: lazily(serving, 'serveFolder'),
    },
    connect: {
      most: 1,
      takes: [...permissionOptions, 'no-local', 'token-file', 'hold-changed', 'max-instances'],
      serves: true,
      does: lazily(() => import('./cli/connectCommand.js'), 'connect'),
    },
    engine: {
      most: 0,
      takes: ['token-file', 'max-instances'],
      serves: true,
      does: lazily(serving, 'engine'),
    },
    stop: {
      most: 0,
      takes: ['token-file'],
      does: lazily(serving, 'stop'),
    },
    entries: {
      needs: 'The name of an agent',
      most: 1,
      takes: ['write', 'each', 'yes', 'token-file'],
      does: writeEntries,
    },
    calls: {
      most: 2,
      takes: ['server', 'agent', 'failed', 'since', 'last', 'follow', 'by'],
      does: (...given) =>
        given[2].by === undefined
          ? lazily(record, 'calls')(...given)
          : use('callsByTool')(...given),
    },
    record: {
      needsNoHome: true,
      serves: true,
      does: lazily(cassettes, 'record'),
    },
    replay: {
      needs: 'The file of a cassette',
      most: 1,
      needsNoHome: true,
      serves: true,
      does: lazily(cassettes, 'replay'),
    },
    login: {
      takes: ['approve', 'no-local', 'no-browser'],
      does: lazily(signing, 'login'),
    },
    logout: {
      needs: 'The name of a server',
      most: 1,
      takes: ['no-local'],
      does: lazily(signing, 'logout'),
    },
    'sign-in-key': {
      most: 1,
      does: lazily(() => import('./cli/keyring.js'), 'printSignInKey'),
    },
    secret: { does: lazily(() => import('./cli/secretCommand.js'), 'secret') },
    import: {
      needs: 'The name of a file',
      most: 1,
      takes: ['format', 'local', 'write'],
      does: importFile,
    },
  }),
);

function status(run: Run, _: Words, options: Options): Promise<number> {
  return withSnapshot(run, options, (snapshot, { gateways, elsewhere }) => {
    const { servers, problems } = snapshot;
    // These are in no row of the table.
    const others = problems.filter(
      (one) => one.severity === 'error' && !servers.some(({ id }) => id === one.server),
    );
    complainOf(others);
    const shown = gateways.map(({ program, pid, since, clients }) => ({
      ...program,
      pid,
      since,
      clients,
    }));
    print(run.json ? toJson({ ...snapshot, gateways: shown }) : statusTable(snapshot));
    const served = [...gatewayLines(gateways), ...elsewhereLines(elsewhere)];
    const lines = [
      ...packageLines(snapshot),
      ...localLines(snapshot),
      ...tokenLines(snapshot),
      ...served,
    ];
    if (!run.json) for (const line of lines) print(line);
    return others.length > 0 || servers.some(isBroken) ? 1 : 0;
  });
}

forgetNpm();

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

const argv = process.argv.slice(2);
void main(argv).then(
  (code) => {
    if (code === 2) {
      const name = argv.find((word) => commands.has(word));
      const page =
        name === undefined ? '--help` lists the commands' : `${name} --help\` explains it`;
      complain(`\`mcp-toolsets ${page}.`);
    }
    process.exitCode = code === 0 && isCut ? 1 : code;
  },
  (error: unknown) => {
    process.exitCode = complainOfDefect(error);
  },
);
