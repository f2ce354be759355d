/** Levels of log messages, as MCP has them of RFC 5424: from what is said most to what is said least. */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export function isLogLevel(value: unknown): value is string {
  return levels.includes(value as string);
}

/** @param least undefined: the client has not said, and gets what the server sends. */
export function isLoudEnough(level: unknown, least: string | undefined): boolean {
  return least === undefined || !isLogLevel(level) || levels.indexOf(level) >= levels.indexOf(least);
}
