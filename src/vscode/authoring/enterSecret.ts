/** *Set Secret…* (C2a) and the literal secrets of files. Loaded on demand. */
import { said } from '../../core/base/language.js';
import { commaList } from '../../core/base/text.js';
import { inert } from '../../core/base/inert.js';
import { symbolsOf } from '../../core/authoring/symbols.js';
import { readYaml } from '../../core/yaml/yamlTree.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { EnteredSecrets } from '../engine/enteredSecrets.js';
import { choose, tell, window } from '../views/inertEditor.js';

export async function chooseSecret(
  slot: EngineSlot,
  secrets: EnteredSecrets,
  server: string | undefined,
): Promise<string | undefined> {
  const used = slot.sources.flatMap(({ text }) =>
    symbolsOf(readYaml(text ?? '').root).flatMap((symbol) =>
      symbol.kind === 'secret' && symbol.server === server ? [symbol.name] : [],
    ),
  );
  const names = [...new Set(used)].sort();
  if (names.length === 0) {
    return tell(
      inert`The server “${server ?? ''}” does not use a secret. Write { secret: NAME } as a value, for example in env.`,
    );
  }
  if (names.length === 1) return names[0];
  const options = { title: inert`Set Secret`, placeHolder: inert`Choose a secret` };
  return choose(names, options, (name) => ({
    label: inert`${name}`,
    description: secrets.get(name) === undefined ? inert`has no value yet` : inert`has a value`,
  }));
}

export async function enterSecret(secrets: EnteredSecrets, name: string): Promise<boolean> {
  const known = secrets.get(name) !== undefined;
  const kept = inert`The editor keeps the value in its secret storage.`;
  const value = await window.showInputBox({
    title: inert`Set Secret ${name}`,
    prompt: known ? inert`${kept} Leave this empty to remove it.` : kept,
    password: true,
    ignoreFocusOut: true,
  });
  if (value === undefined || (value === '' && !known)) return false;
  await secrets.set(name, value === '' ? undefined : value);
  return value !== '';
}

/**
 * Offers to keep the literal secrets of a file, by name, in the secret storage of the editor
 * (C2a).
 */
export async function offerToKeep(
  secrets: EnteredSecrets,
  found: ReadonlyMap<string, string>,
): Promise<void> {
  const unset = [...found].filter(([name]) => secrets.get(name) === undefined);
  if (unset.length === 0) return;
  const names = commaList(
    unset.map(([name]) => name),
    said,
  );
  const text = inert`Keep what was written out as ${names} in the secret storage of the editor?`;
  if ((await window.showInformationMessage(text, 'Keep It Now', 'Not Now')) !== 'Keep It Now')
    return;
  for (const [name, value] of unset) await secrets.set(name, value);
}
