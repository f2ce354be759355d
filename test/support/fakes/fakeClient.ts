import { expectedClient, noClient, type ServerClient } from '../../../src/core/protocol/client.js';

/** A client that answers no request and ignores notifications. */
export const fakeClient = (own: Partial<ServerClient> = {}): ServerClient => ({
  ...expectedClient(noClient),
  session: {},
  ask: () => Promise.reject(new Error('nobody')),
  ...own,
});
