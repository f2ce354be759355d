import type { Log } from '../../../src/core/base/log.js';

export const silentLog: Log = { write: () => {} };
