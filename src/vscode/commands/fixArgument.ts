/** *Fix an Argument to What Was Sent…*: writes an override (O2). Loaded on demand. */
import { inert } from '../../core/base/inert.js';
import { asFields } from '../../core/base/isObject.js';
import { clipped } from '../../core/base/text.js';
import { writeFixed } from '../authoring/fileEdits.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { choose, tell } from '../views/inertEditor.js';

/** @param sent undefined if this window does not know it */
export async function fixArgument(
  slot: EngineSlot,
  toolset: string,
  original: string,
  sent: unknown,
): Promise<void> {
  const server = slot.serverOf(toolset);
  const called = server?.tools.find((tool) => tool.original === original);
  const { offered = called?.tool, rules = [] } = called?.override ?? {};
  const known = offered?.inputSchema.properties ?? {};
  const fixable = Object.entries(asFields(sent)).filter(([name, value]) => {
    // A secret does not belong in the file.
    const text = JSON.stringify({ [name]: value });
    const isRuled = rules.some((rule) => rule.name === name);
    return Object.hasOwn(known, name) && !isRuled && slot.redact(text) === text;
  });
  if (!server || fixable.length === 0) {
    return tell(
      inert`This call has no argument to fix. Its arguments are not kept in this window, are secrets, or are overridden already.`,
    );
  }
  const placeHolder = inert`Which argument has this value in every call?`;
  const chosen = await choose(fixable, { placeHolder }, ([name, value]) => ({
    label: inert`${name}`,
    description: inert`${clipped(JSON.stringify(value), 100)}`,
  }));
  if (chosen) await writeFixed(server, original, ...chosen);
}
