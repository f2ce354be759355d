import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { BoundedMap } from '../../base/boundedMap.js';
import { asFields, asList, type Fields } from '../../base/isObject.js';
import {
  mirroredParams,
  mirroredValue,
  namedParams,
  toHeader,
  type MirroredParam,
} from '../../protocol/mirroredParams.js';

/** A call of any other tool goes without such headers, and the server reports it. */
const mostTools = 10_000;

export class RequestHeaders {
  private readonly tools = new BoundedMap<string, readonly MirroredParam[]>(mostTools);

  learn({ tools }: Fields): void {
    for (const tool of asList(tools)) {
      const { name, inputSchema } = asFields(tool);
      if (typeof name !== 'string') continue;
      const mirrored = mirroredParams(inputSchema);
      if (typeof mirrored !== 'string' && mirrored.length > 0) this.tools.set(name, mirrored);
      else this.tools.delete(name);
    }
  }

  mirroredBy(tool: unknown): readonly MirroredParam[] {
    return (typeof tool === 'string' && this.tools.get(tool)) || [];
  }

  of(message: JSONRPCMessage): Record<string, string> {
    if (!('method' in message)) return {};
    const { method } = message;
    const params = asFields(message.params);
    const { name, arguments: args } = params;
    const headers: Record<string, string> = { 'mcp-method': toHeader(String(method)) };
    const target = params[namedParams.get(method) ?? ''];
    if (typeof target === 'string') headers['mcp-name'] = toHeader(target);
    if (method !== 'tools/call') return headers;
    for (const param of this.mirroredBy(name)) {
      const value = mirroredValue(param, args);
      if (value !== undefined) headers[`mcp-param-${param.header}`] = toHeader(String(value));
    }
    return headers;
  }
}
