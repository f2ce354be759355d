/**
 * Reports tools that agents lack although no list, setting or person leaves them out (E3), the same
 * in every view.
 */
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
    ...(isEmpty ? ['agents get nothing'] : []),
    ...(leftOut > 0 ? [leftOut === 1 ? '1 tool left out' : `${leftOut} tools left out`] : []),
    ...(held > 0 ? [held === 1 ? '1 change held back' : `${held} changes held back`] : []),
    ...(inEditor === tools.length
      ? []
      : [inEditor === 1 ? '1 tool in the editor' : `${inEditor} tools in the editor`]),
  ];
}

export function heldChanges({ changedOffers }: ServerStatus): number {
  return changedOffers.filter(({ held }) => held).length;
}
