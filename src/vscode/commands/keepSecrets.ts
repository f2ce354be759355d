/** Offers to keep the literal secrets of a file in the secret storage of the editor (C2, C6). Loaded on demand. */
import { inert } from '../../core/base/inert.js';
import type { EnteredSecrets } from '../engine/enteredSecrets.js';
import { window } from '../views/inertEditor.js';

/** @param found the values by name; a secret with a value keeps it */
export async function offerToKeep(secrets: EnteredSecrets, found: ReadonlyMap<string, string>): Promise<void> {
  const unset = [...found].filter(([name]) => secrets.get(name) === undefined);
  if (unset.length === 0) return;
  const names = unset.map(([name]) => name).join(', ');
  const text = inert`Keep what was written out as ${names} in the secret storage of the editor?`;
  if ((await window.showInformationMessage(text, 'Keep It Now', 'Not Now')) !== 'Keep It Now') return;
  for (const [name, value] of unset) await secrets.set(name, value);
}
