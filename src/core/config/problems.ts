/**
 * Makes problems of config files. Possible secrets (`env`, `headers`, `url`, `sessionId`) never
 * become part of a text.
 */
import { english } from '../base/language.js';
import type { Place, Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import { withoutSecrets } from '../base/secrets.js';
import { clipped } from '../base/text.js';
import { keysOf, spellingsOf, suggestKey, type KeyLevel } from './keys.js';
import type { ForeignReference } from './foreignReferences.js';

export const firstEntry = (place: Place) => [{ message: 'The first entry is here.', place }];

/** @param written the keys beside it, so the fix makes no duplicate */
export function unknownKey(
  place: Place,
  level: KeyLevel,
  key: string,
  written: ReadonlyMap<string, unknown>,
): Problem {
  const said = { key: shortened(key) };
  const instead = suggestKey(level, key);
  if (instead !== undefined) {
    const again = spellingsOf(instead).find((one) => written.has(one));
    return again === undefined
      ? problemOf('unknown-key:misspelt', place, { ...said, instead })
      : problemOf('unknown-key:again', place, { ...said, instead: again });
  }
  if (level === 'server' && key.toLowerCase() === 'disabled')
    return problemOf('unknown-key:disabled', place, said);
  const known = keysOf(level).map((one) => `\`${one}\``);
  return problemOf('unknown-key', place, {
    ...said,
    known: known.join(', '),
  });
}

/** @param instead what to write in a place that takes no reference */
export function referenceNotReplaced(
  place: Place,
  target: string,
  reference: ForeignReference,
  instead?: string,
): Problem {
  const source = reference.kind === 'variable' ? 'env' : 'secret';
  const name = 'id' in reference ? reference.id : 'name' in reference ? reference.name : undefined;
  const fix =
    name === undefined
      ? 'Write the value out. A path may begin in the folder in which the server starts.'
      : english`Write \`{ ${source}: ${shortened(name)} }\`, and the text around it as \`prefix\` and \`suffix\`.`;
  const written = shortened(reference.written);
  return problemOf('reference-not-replaced', place, {
    written,
    target,
    fix: instead ?? fix,
  });
}

/** The command line names its shell in place of this. */
export const whereVariablesAreSet = 'before you start the editor or run `mcp-toolsets`';

export function envUnset(
  place: Place,
  name: string,
  target: string,
  similar: string | undefined,
): Problem {
  const other =
    similar === undefined
      ? 'name another variable'
      : english`change the name to \`${similar}\`, which is set`;
  const given = {
    variable: shortened(name),
    target,
    other,
    where: whereVariablesAreSet,
  };
  return problemOf('env-unset', place, given);
}

/** Shortens a name or value for a message and removes possible secrets. */
export function shortened(text: string): string {
  if (text === '') return "''";
  const line = text.slice(0, 4096).replace(/[\s\p{Cc}]+/gu, ' ');
  return clipped(withoutSecrets(line), 64);
}
