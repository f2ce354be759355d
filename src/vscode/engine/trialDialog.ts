/**
 * Names the dialogs of *Try Tool*. Each panel is a dialog, so that trying a tool uses an instance of its own (L1).
 * Everything here is pure.
 */
import { randomUUID } from 'node:crypto';

const prefix = 'try:';

export function newTrialDialog(): string {
  return `${prefix}${randomUUID()}`;
}

export function isTrial(dialog: string): boolean {
  return dialog.startsWith(prefix);
}
