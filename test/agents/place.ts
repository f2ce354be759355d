/**
 * The surroundings of an agent: a workspace folder, a separate home, a real `mcp-toolsets serve`
 * over the folder, and the scripted model. The agent learns about the toolsets only from the output
 * of `mcp-toolsets entries`.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { CommandLine } from '../support/core/commandLine.js';
import { fixture, type Entry } from '../support/core/configText.js';
import { Person } from '../support/core/person.js';
import { Serving } from '../support/core/serving.js';
import type { AgentProgram, Around } from './agentProgram.js';
import { AgentRun } from './agentRun.js';
import type { ScriptedModel, Talk } from './models/scriptedModel.js';
import { commandOf, install } from './programs.js';

type Servers = Readonly<Record<string, Entry>>;

const tools = [
  'tally',
  'echo',
  'fail',
  'chart',
  'structured',
  'quiet',
  'exit',
  'secret_plan',
  'late',
];

/** @param without tools that the file filters out */
function counter(without: readonly string[]): Servers {
  const rest = {
    tools: { blacklist: ['secret_*', ...without] },
    transform: [{ prefix: 'c_' }],
    timeouts: { call: '3m' },
  };
  return { counter: fixture('raw', ['--shuffle', '--tools', tools.join(',')], rest) };
}

export class Place {
  private readonly runs: AgentRun[] = [];
  private serving: Serving | undefined;
  private port = '0';

  private constructor(
    readonly agent: AgentProgram,
    private readonly cli: CommandLine,
    private readonly model: ScriptedModel,
    private readonly command: string,
    private readonly newerNode: string,
    private readonly toolsets: readonly string[],
  ) {}

  /**
   * Serves, and writes the entries and the agent's other settings. @param signsInTo a server that
   * the person signs in to first
   */
  static async open(
    agent: AgentProgram,
    model: ScriptedModel,
    servers: Servers = counter(['late']),
    signsInTo?: string,
  ): Promise<Place> {
    const command = commandOf(agent.id, await install(agent.id));
    const newerNode = path.dirname(commandOf('node', await install('node')));
    const place = new Place(agent, await CommandLine.open(), model, command, newerNode, [
      ...Object.keys(servers),
      'mcp_admin',
    ]);
    try {
      place.cli.save(servers);
      if (signsInTo !== undefined) await place.login(signsInTo);
      await place.serve();
      mkdirSync(place.home, { recursive: true });
      agent.settle(place.around(), writeFile);
      await place.writeEntries();
    } catch (error) {
      await place.close();
      throw error;
    }
    return place;
  }

  get folder(): string {
    return this.cli.folder;
  }

  get home(): string {
    return this.cli.home;
  }

  /** Resolves when the filtered tool is served. */
  async addTool(): Promise<void> {
    this.cli.save(counter([]));
    await this.serving?.until(`${tools.length - 1} tools`);
  }

  async serve(): Promise<void> {
    this.serving = await Serving.begin(this.cli, this.toolsets, '--port', this.port);
    this.port = new URL(this.serving.base).port;
  }

  /** Like a restart of the machine or a reload of a window, it ends every child too. */
  async stopServing(): Promise<void> {
    const { serving } = this;
    this.serving = undefined;
    if (!serving || serving.process.exitCode !== null) return;
    const closed = once(serving.process, 'close');
    serving.process.kill('SIGTERM');
    await closed;
  }

  /** As over SSH: the person opens the printed address. */
  private async login(server: string): Promise<void> {
    const { cli } = this;
    // The test leaves the keyring of the developer alone.
    cli.env['DBUS_SESSION_BUS_ADDRESS'] = `unix:path=${path.join(this.folder, 'no-bus')}`;
    mkdirSync(this.home, { recursive: true });
    cli.approveAll();
    const child = cli.begin('login', server, '--no-browser');
    assert.ok(child.stderr);
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (URL.canParse(line)) void new Person().show(new URL(line));
    });
    const { code, stderr } = await cli.finishBeside(child);
    assert.equal(code, 0, stderr);
  }

  private around(): Around {
    const { command, args } = this.cli.commandOf('connect', '-C', this.folder);
    return {
      folder: this.folder,
      home: this.home,
      modelUrl: this.model.url,
      connect: { command, args },
    };
  }

  private async writeEntries(): Promise<void> {
    const { entries } = this.agent;
    if (entries === undefined) return;
    const told = await this.cli.finishBeside(this.cli.begin('entries', entries, '--write'));
    assert.equal(told.code, 0, told.stderr);
  }

  /** Starts the agent with the prompt of the conversation. The agent then asks its model. */
  begin(talk: Talk): AgentRun {
    const { agent, folder, home } = this;
    const { args, env } = agent.start(this.around(), talk.prompt);
    const child = spawn(this.command, args, {
      cwd: folder,
      env: {
        ...this.cli.env,
        // Some agents trust this variable more than the system.
        PWD: folder,
        PATH: `${this.newerNode}${path.delimiter}${process.env['PATH']}`,
        XDG_CONFIG_HOME: path.join(home, '.config'),
        XDG_DATA_HOME: path.join(home, '.local', 'share'),
        XDG_STATE_HOME: path.join(home, '.local', 'state'),
        XDG_CACHE_HOME: path.join(home, '.cache'),
        NO_COLOR: '1',
        CI: '1',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate group, so that it ends with all its children.
      detached: process.platform !== 'win32',
    });
    const run = new AgentRun(child, talk);
    this.runs.push(run);
    return run;
  }

  /** Ends everything, whatever state it is in. */
  async close(): Promise<void> {
    for (const run of this.runs) await run.kill();
    await this.stopServing();
    // A background process of an agent would keep the folder.
    for (const { pid } of this.cli.processes()) if (pid !== process.pid) kill(pid);
    await this.cli.close();
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

function writeFile(file: string, value: string | object): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value, null, 2));
}
