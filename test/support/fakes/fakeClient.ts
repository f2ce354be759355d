import type { ServerClient } from '../../../src/core/protocol/client.js';

/** A client that answers no request and ignores notifications. */
export const fakeClient = (traits: Partial<ServerClient> = {}): ServerClient => ({
  session: {},
  capabilities: {},
  logLevel: undefined,
  ask: () => Promise.reject(new Error('nobody')),
  tell: () => {},
  ...traits,
});
