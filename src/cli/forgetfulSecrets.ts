/** The command line signs nobody in and keeps no token; what a program may get by itself lasts as long as the run. */
import type { SecretStore } from '../core/connections/http/oauth/contract.js';

export const forgetfulSecrets: SecretStore = {
  get: () => Promise.resolve(undefined),
  store: () => Promise.resolve(),
  delete: () => Promise.resolve(),
  onDidChange: () => ({ dispose: () => {} }),
};
