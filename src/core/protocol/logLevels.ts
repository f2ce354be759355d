/** The levels of log messages in MCP and RFC 5424, the most frequent first. */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export function isLogLevel(value: unknown): value is string {
  return levels.includes(value as string);
}

/** Returns the rank of a level: the greater, the rarer. Without a level, a client ranks above all. */
export function logLevelRank(level: string | undefined): number {
  return level === undefined ? levels.length : levels.indexOf(level);
}

/** @param least undefined if the client has not said, so it gets everything from the server */
export function isLoudEnough(level: unknown, least: string | undefined): boolean {
  return least === undefined || !isLogLevel(level) || logLevelRank(level) >= logLevelRank(least);
}
