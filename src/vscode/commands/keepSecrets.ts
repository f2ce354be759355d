/** Keeps secrets that a person had written out where the editor keeps entered secrets (C2, C6). Loaded when it is first needed. */
import { inert } from '../../core/base/inert.js';
import type { EnteredSecrets } from '../engine/enteredSecrets.js';
import { window } from '../views/inertEditor.js';

/** @param found the values by their names; a secret that has a value keeps it */
export async function offerToKeep(secrets: EnteredSecrets, found: ReadonlyMap<string, string>): Promise<void> {
  const unset = [...found].filter(([name]) => secrets.get(name) === undefined);
  if (unset.length === 0) return;
  const names = unset.map(([name]) => name).join(', ');
  const text = inert`Keep what was written out as ${names} in the secret storage of the editor?`;
  if ((await window.showInformationMessage(text, 'Keep It Now', 'Not Now')) !== 'Keep It Now') return;
  for (const [name, value] of unset) await secrets.set(name, value);
}
