import { isObject } from '../base/isObject.js';
import type { Fields } from './client.js';

/** Keys in `_meta` of requests, results and notifications since 2026-07-28. */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** Returns the `_meta` of parameters or of a result; empty without one. */
export function metaOf(fields: Fields | undefined): Fields {
  const meta = fields?.['_meta'];
  return isObject(meta) ? meta : {};
}
