/** Recognises a half-typed launch (R1). It is pure. */
import { isDeepStrictEqual } from 'node:util';
import { EditNodes } from '../../yaml/editNodes.js';
import { transportOfKey } from '../keys.js';
import { serverPair, serverValues } from './serverEdits.js';

const launchKeys = ['transport', ...transportOfKey.keys()];

/** True if an edit changes the launch of the server around the caret. @param caret an offset in `now` */
export function changesLaunchAt(before: string, now: string, caret: number): boolean {
  const nodes = EditNodes.read(now);
  const servers = serverValues(now);
  if (!nodes || !servers) return false;
  // Blank lines and comments behind an entry belong to it, because it grows there.
  const entries = [...servers.keys()].map((id) => ({ id, start: nodes.startOf(serverPair(nodes, id)?.pair.key) }));
  const { id } = entries.filter(({ start }) => start <= caret).sort((a, b) => b.start - a.start)[0] ?? {};
  if (id === undefined) return false;
  const [was, is] = [serverValues(before)?.get(id) ?? {}, servers.get(id) ?? {}];
  return launchKeys.some((key) => !isDeepStrictEqual(was[key], is[key]));
}
