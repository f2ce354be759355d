/** The core's logs as output channels (E4). A channel is created with its first line. */
import * as vscode from 'vscode';
import type { Log, LogLevel } from '../../core/base/log.js';

const hostChannel = 'MCP Toolsets';
const mostLines = 100;
const longestLine = 500;

interface OpenLog {
  readonly channel: vscode.LogOutputChannel;
  /** The last lines, because an extension cannot read a channel. */
  readonly lines: string[];
}

export class Logs implements vscode.Disposable {
  private readonly open = new Map<string, OpenLog>();
  /** Closed channels. While their servers end, their lines go to the log of the extension. */
  private readonly closed = new Set<string>();
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
    this.logOf(server === undefined ? hostChannel : channelName(server))?.channel.show();
  }

  recent(): { readonly name: string; readonly lines: readonly string[] }[] {
    return [...this.open]
      .map(([name, { lines }]) => ({ name, lines }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Closes the channels of all other servers. */
  keep(servers: readonly string[]): void {
    const wanted = new Set([hostChannel, ...servers.map(channelName)]);
    for (const [name, { channel }] of this.open) {
      if (wanted.has(name)) continue;
      this.open.delete(name);
      this.closed.add(name);
      channel.dispose();
    }
  }

  dispose(): void {
    this.ended = true;
    for (const { channel } of this.open.values()) channel.dispose();
    this.open.clear();
  }

  private write(name: string, level: LogLevel, message: string): void {
    const log = level === 'trace' && !this.tracing() ? undefined : this.logOf(name);
    if (!log) return;
    const { channel, lines } = log;
    const line = `${new Date().toISOString()} [${level}] ${message}`;
    lines.push(line.length > longestLine ? `${line.slice(0, longestLine)}…` : line);
    if (lines.length > mostLines) lines.shift();
    // Channels hide `trace` by default, but the person asked for these lines in our setting.
    if (level === 'trace') channel.info(`[trace] ${message}`);
    else channel[level](message);
  }

  private logOf(name: string): OpenLog | undefined {
    if (this.ended) return undefined;
    const log = this.open.get(name) ?? {
      channel: vscode.window.createOutputChannel(name, { log: true }),
      lines: [],
    };
    this.open.set(name, log);
    return log;
  }
}

function channelName(server: string): string {
  return `${hostChannel}: ${server}`;
}
