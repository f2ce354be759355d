/**
 * Shows a person everything that a call is given before they allow it, and nothing of it is invisible. Everything here
 * is pure.
 */
import { bothEnds, inertLines, type Inert } from '../../core/base/inert.js';
import type { CallQuestion } from '../../core/host/permission.js';

export function argumentsText({ title, arguments: input }: Pick<CallQuestion, 'title' | 'arguments'>): Inert {
  const json = JSON.stringify(input ?? {}, undefined, 2);
  const given = json === '{}' ? 'The call has no arguments.' : `Arguments:\n${bothEnds(json)}`;
  return inertLines(title === undefined ? given : `${bothEnds(title)}\n\n${given}`);
}
