/** The core's logs as output channels (E4). A channel is created with its first line. */
import * as vscode from 'vscode';
import { assertNever } from '../../core/base/assertNever.js';
import type { Disposable } from '../../core/base/disposables.js';
import type { Log, LogLevel } from '../../core/base/log.js';

const hostChannel = 'MCP Toolsets';
const mostLines = 100;
const longestLine = 500;

export class Logs implements Disposable {
  private readonly channels = new Map<string, vscode.LogOutputChannel>();
  /** Closed channels. While their servers end, their lines go to the log of the extension. */
  private readonly closed = new Set<string>();
  /** The last lines of each log, because an extension cannot read a channel. */
  private readonly last = new Map<string, RecentLines>();
  private ended = false;

  readonly host: Log = { write: (level, message) => this.write(hostChannel, level, message) };

  constructor(private readonly tracing: () => boolean) {}

  ofServer(server: string): Log {
    const name = channelName(server);
    this.closed.delete(name);
    return {
      write: (level, message) => {
        if (this.closed.has(name)) this.host.write(level, `${server}: ${message}`);
        else this.write(name, level, message);
      },
    };
  }

  show(server?: string): void {
    this.channel(server === undefined ? hostChannel : channelName(server))?.show();
  }

  recent(): { readonly name: string; readonly lines: readonly string[] }[] {
    return [...this.last].map(([name, { lines }]) => ({ name, lines })).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Closes the channels of all other servers. */
  keep(servers: readonly string[]): void {
    const wanted = new Set([hostChannel, ...servers.map(channelName)]);
    for (const [name, channel] of this.channels) {
      if (wanted.has(name)) continue;
      this.channels.delete(name);
      this.last.delete(name);
      this.closed.add(name);
      channel.dispose();
    }
  }

  dispose(): void {
    this.ended = true;
    for (const channel of this.channels.values()) channel.dispose();
    this.channels.clear();
  }

  private write(name: string, level: LogLevel, message: string): void {
    // Channels hide `trace` by default, but the person asked for these lines in our setting.
    if (level === 'trace') {
      if (!this.tracing()) return;
      this.remember(name, level, message);
      this.channel(name)?.info(`[trace] ${message}`);
      return;
    }
    this.remember(name, level, message);
    const channel = this.channel(name);
    if (channel) writeTo(channel, level, message);
  }

  private remember(name: string, level: LogLevel, message: string): void {
    if (this.ended) return;
    const lines = this.last.get(name) ?? new RecentLines();
    this.last.set(name, lines);
    lines.add(`${new Date().toISOString()} [${level}] ${message}`);
  }

  private channel(name: string): vscode.LogOutputChannel | undefined {
    if (this.ended) return undefined;
    const existing = this.channels.get(name);
    if (existing) return existing;
    const channel = vscode.window.createOutputChannel(name, { log: true });
    this.channels.set(name, channel);
    return channel;
  }
}

function channelName(server: string): string {
  return `${hostChannel}: ${server}`;
}

function writeTo(channel: vscode.LogOutputChannel, level: Exclude<LogLevel, 'trace'>, message: string): void {
  switch (level) {
    case 'debug':
      return channel.debug(message);
    case 'info':
      return channel.info(message);
    case 'warn':
      return channel.warn(message);
    case 'error':
      return channel.error(message);
    default:
      return assertNever(level);
  }
}

class RecentLines {
  private readonly kept: string[] = [];

  get lines(): readonly string[] {
    return this.kept;
  }

  add(line: string): void {
    this.kept.push(line.length > longestLine ? `${line.slice(0, longestLine)}…` : line);
    if (this.kept.length > mostLines) this.kept.shift();
  }
}
