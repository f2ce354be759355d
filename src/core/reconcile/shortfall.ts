/**
 * Reports tools that agents lack although no list, setting or person leaves them out (E3), the same
 * in every view.
 */
import { counted, english } from '../base/language.js';
import type { Problem } from '../base/problem.js';
import { toolsForEditor, type ExclusionReason } from '../tools/catalogue.js';
import type { ServerStatus } from './status.js';

export function serves(server: ServerStatus): boolean {
  return ['running', 'idle', 'remembered'].includes(server.state.kind);
}

/** The other reasons are faults. */
const meant = new Set<ExclusionReason['kind']>([
  'blacklist',
  'whitelist',
  'denied',
  'changed',
  'listedTwice',
]);

/**
 * Returns phrases such as `2 tools left out`. @param problems may be the problems of all servers
 */
export function shortfallsOf(
  server: ServerStatus,
  problems: readonly Problem[],
): readonly string[] {
  if (!serves(server)) return [];
  const { tools, prompts, resources, excluded } = server;
  const leftOut = excluded.filter(({ reason }) => !meant.has(reason.kind)).length;
  const held = heldChanges(server);
  const absence = problems.find(
    (problem) => problem.server === server.id && problem.inEditor !== undefined,
  );
  const inEditor = absence?.inEditor ?? toolsForEditor(server).length;
  const offers = [tools, prompts, resources.resources, resources.templates];
  const isEmpty = leftOut + held === 0 && offers.every(({ length }) => length === 0);
  return [
    ...(isEmpty ? [english`agents get nothing`] : []),
    ...(leftOut > 0 ? [counted(leftOut, '1 tool left out', '{0} tools left out')] : []),
    ...(held > 0 ? [counted(held, '1 change held back', '{0} changes held back')] : []),
    ...(inEditor === tools.length
      ? []
      : [counted(inEditor, '1 tool in the editor', '{0} tools in the editor')]),
  ];
}

export function heldChanges({ changedOffers }: ServerStatus): number {
  return changedOffers.filter(({ held }) => held).length;
}
