import { pinned } from '../../packages/pin.js';
import { EditNodes } from '../../yaml/editNodes.js';
import { applyEdits, replaceItem } from '../../yaml/edits.js';
import { TextPositions } from '../../yaml/textPositions.js';
import type { ServerDefinition } from '../model.js';

/**
 * Returns the text with a version behind the package of a server. Undefined if the argument is no
 * text that an edit can replace, such as an alias.
 * @param text of the file with the argument, without a byte order mark
 */
export function withVersion(
  text: string,
  { package: named, launch, places }: ServerDefinition,
  version: string,
): string | undefined {
  if (!named || launch.transport !== 'stdio') return undefined;
  const argument = launch.args[named.argument]?.value ?? '';
  const written = pinned(argument, named, version);
  const nodes = EditNodes.read(text);
  if (written === undefined || !nodes) return undefined;
  const { start } = places.value(['args', named.argument]).range;
  const made = replaceItem(nodes, new TextPositions(text).offset(start), written);
  return made && applyEdits(text, made);
}
