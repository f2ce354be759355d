/** The dialogs of “Try Tool”: each panel is one, so that what is tried holds an instance of its own (L1). Pure. */
import { randomUUID } from 'node:crypto';

const prefix = 'try:';

export function newTrialDialog(): string {
  return `${prefix}${randomUUID()}`;
}

export function isTrial(dialog: string): boolean {
  return dialog.startsWith(prefix);
}
