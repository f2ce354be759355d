/** `package.json` with the English texts of `package.nls.json`, as an editor in English reads it. */
import manifestOfKeys from '../../package.json';
import texts from '../../package.nls.json';

export type Manifest = typeof manifestOfKeys;

/** @param language texts by their keys. The editor takes English for a missing one. */
export function manifestIn(language: Readonly<Record<string, string>>): Manifest {
  const all: Readonly<Record<string, string>> = { ...texts, ...language };
  const inLanguage = (_: string, value: unknown): unknown =>
    typeof value === 'string'
      ? value.replace(/^%([\w.]+)%$/, (key, name) => all[name] ?? key)
      : value;
  return JSON.parse(JSON.stringify(manifestOfKeys), inLanguage) as Manifest;
}

export const manifest = manifestIn({});
