/** The levels of log messages in MCP, which are those of RFC 5424, from what is said most to what is said least. */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export function isLogLevel(value: unknown): value is string {
  return levels.includes(value as string);
}

/** Ranks a level: a greater number is said less often. Where the client has not said a level, it ranks above all. */
export function logLevelRank(level: string | undefined): number {
  return level === undefined ? levels.length : levels.indexOf(level);
}

/** @param least is undefined where the client has not said, and gets what the server sends */
export function isLoudEnough(level: unknown, least: string | undefined): boolean {
  return least === undefined || !isLogLevel(level) || logLevelRank(level) >= logLevelRank(least);
}
