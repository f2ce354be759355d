/** The command line signs nobody in and stores no token: what a program may get by itself stays in memory for one run. */
import type { SecretStore } from '../core/connections/http/oauth/contract.js';

export const memoryOnlySecrets: SecretStore = {
  get: () => Promise.resolve(undefined),
  store: () => Promise.resolve(),
  delete: () => Promise.resolve(),
  onDidChange: () => ({ dispose: () => {} }),
};
