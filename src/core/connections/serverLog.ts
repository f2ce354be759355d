/** `notifications/message` of a server as lines of its log. */
import type { Log, LogLevel } from '../base/log.js';
import { shortened } from './jsonRpc.js';
import type { Fields } from './serverClient.js';

const loggedDataLength = 4000;

export function logMessage(log: Log, { level, logger, data }: Fields): void {
  const from = typeof logger === 'string' ? `[${logger}] ` : '';
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  log.write(logLevels[String(level)] ?? 'info', `${from}${shortened(text, loggedDataLength)}`);
}

/** RFC 5424 levels of `notifications/message` to ours. */
const logLevels: Readonly<Record<string, LogLevel>> = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
};
