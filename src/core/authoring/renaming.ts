/** Renames a server in its config file (E2). `core/team/renaming` renames it in other files. Pure. */
import { validateId } from '../config/edit/newServer.js';
import { EditNodes } from '../yaml/editNodes.js';
import { renameKey, type TextEdit } from '../yaml/edits.js';
import type { Span } from '../yaml/textPositions.js';
import { serversIn } from './outline.js';

export function serverAt(text: string, offset: number): { readonly id: string; readonly keySpan: Span } | undefined {
  return serversIn(text).find(({ keySpan }) => keySpan.start <= offset && offset <= keySpan.end);
}

/** Returns the edits, or a sentence with the reason against the new id. */
export function renamedServer(text: string, { start }: Span, to: string): readonly TextEdit[] | string {
  const nodes = EditNodes.read(text);
  if (!nodes) return 'The file has an error. Correct it before you rename a server.';
  const why = validateId(to, new Set(serversIn(text).map(({ id }) => id)));
  return why ?? renameKey(nodes, start, to) ?? 'This id cannot be changed here.';
}
