/** A tool with one schema, and its override. */
import type { ArgumentOverride } from '../../../src/core/config/model.js';
import type { OfferedTool } from '../../../src/core/tools/catalogue.js';
import { completed, overridden } from '../../../src/core/tools/override.js';

export type Schema = Record<string, unknown>;

const toolWith = (inputSchema: Schema): OfferedTool => ({
  name: 'create_issue',
  description: 'Long.',
  inputSchema: { type: 'object', ...inputSchema } as OfferedTool['inputSchema'],
});

export function changed(
  inputSchema: Schema,
  given: Record<string, ArgumentOverride>,
  description?: string,
) {
  const tool = toolWith(inputSchema);
  const override = {
    ...(description !== undefined && { description }),
    arguments: new Map(Object.entries(given)),
  };
  const found = overridden(tool, override);
  const send = (args?: Record<string, unknown>) => completed(found.applied, args);
  return { ...found, schema: found.tool.inputSchema as Schema, send };
}
