/** Makes problems of config files. Possible secrets (`env`, `headers`, `url`, `sessionId`) never become part of a text. */
import type { Place, Problem, ProblemCode, Severity } from '../base/problem.js';
import { withoutSecrets } from '../base/secrets.js';
import { clipped } from '../base/text.js';
import { keysOf, suggestKey, type KeyLevel } from './keys.js';
import type { ForeignReference } from './foreignReferences.js';

export function problem(
  code: ProblemCode,
  severity: Severity,
  place: Place,
  message: string,
  fix: string,
  related?: Problem['related'],
): Problem {
  return { code, severity, message, fix, place, ...(related && { related }) };
}

export const firstEntry = (place: Place): Problem['related'] => [{ message: 'The first entry is here.', place }];

export function duplicateServer(place: Place, id: string, first: Place): Problem {
  const message = `Server id \`${shortened(id)}\` is used twice in this file.`;
  const fix = 'Rename or remove one of the two entries.';
  return problem('duplicate-server', 'error', place, message, fix, firstEntry(first));
}

/** @param written the keys beside it, so the fix makes no duplicate */
export function unknownKey(place: Place, level: KeyLevel, key: string, written: ReadonlyMap<string, unknown>): Problem {
  const known = keysOf(level);
  const said = `Unknown key \`${shortened(key)}\``;
  const suggestion = suggestKey(level, key);
  if (suggestion === undefined) {
    if (level === 'server' && key.toLowerCase() === 'disabled') {
      const message = `${said}: the key is \`enabled\`, with the opposite value.`;
      return problem('unknown-key', 'warning', place, message, 'Write `enabled: false` if the server must not start.');
    }
    const message = `${said}; known keys: ${known.map((one) => `\`${one}\``).join(', ')}.`;
    return problem('unknown-key', 'warning', place, message, 'Remove the key, or write one of the known ones.');
  }
  const message = `${said}; did you mean \`${suggestion}\`?`;
  const fix = written.has(suggestion)
    ? `Remove the key: \`${suggestion}\` is written already.`
    : `Rename it to \`${suggestion}\`.`;
  return { ...problem('unknown-key', 'warning', place, message, fix), instead: suggestion };
}

/** @param message names the key, which another program reads */
export function keyNotUsed(place: Place, message: string, fix = 'Leave it for the program that reads it.'): Problem {
  return problem('key-not-used', 'information', place, message, fix);
}

export function duplicateKey(place: Place, key: string, first: Place, ignoringCase = false): Problem {
  const message = ignoringCase
    ? `\`${shortened(key)}\` is written twice: the names of headers ignore case.`
    : `Key \`${shortened(key)}\` is written twice in one map.`;
  const related = [{ message: 'It is first written here.', place: first }];
  return problem('duplicate-key', 'error', place, message, 'Remove one of the two.', related);
}

/** @param owner the subject of the sentence, e.g. ``Server `search` ``. */
export function missingKey(place: Place, owner: string, key: string, example: string): Problem {
  return problem('missing-key', 'error', place, `${owner} has no \`${key}\`.`, `Add \`${example}\`.`);
}

/** @param what the key or the list item, e.g. `` `args` `` or ``An item of `args` `` */
export function wrongType(place: Place, what: string, expected: string, found: string, fix: string): Problem {
  return problem('wrong-type', 'error', place, `${what} must be ${expected}; found ${found}.`, fix);
}

/** @param instead what to write in a place that takes no reference */
export function referenceNotReplaced(
  place: Place,
  target: string,
  reference: ForeignReference,
  instead?: string,
): Problem {
  const written = shortened(reference.written);
  const message = `\`${written}\` in ${target} is not expanded: a text refers to no variables here.`;
  const source = reference.kind === 'variable' ? 'env' : 'secret';
  const name = 'id' in reference ? reference.id : 'name' in reference ? reference.name : undefined;
  const fix =
    name === undefined
      ? 'Write the value out. A path may begin in the folder in which the server starts.'
      : `Write \`{ ${source}: ${shortened(name)} }\`, and the text around it as \`prefix\` and \`suffix\`.`;
  return problem('reference-not-replaced', 'warning', place, message, instead ?? fix);
}

/** The command line names its shell in place of this. */
export const whereVariablesAreSet = 'before you start the editor or run `mcp-toolsets`';

export function envUnset(place: Place, variable: string, target: string, similar: string | undefined): Problem {
  const message = `The environment variable \`${shortened(variable)}\`, needed for ${target}, is not set.`;
  const other = similar === undefined ? 'name another variable' : `change the name to \`${similar}\`, which is set`;
  const fix = `Set \`${shortened(variable)}\` ${whereVariablesAreSet}, or ${other}.`;
  return problem('env-unset', 'error', place, message, fix);
}

export function twoSources(place: Place, owner: string, first: string, other: string): Problem {
  const message = `${owner} names both \`${first}\` and \`${other}\`; its value can come from only one of them.`;
  return problem('wrong-type', 'error', place, message, 'Remove one of the two.');
}

export function idInOtherFolder(place: Place, id: string, first: Place): Problem {
  const message = `Server id \`${id}\` is already used by \`${first.file}\`; this entry is left out.`;
  const fix = 'Rename one of the two servers, or remove one of them.';
  return problem('id-in-other-folder', 'error', place, message, fix, firstEntry(first));
}

export function serverShadowed(place: Place, id: string, by: Place): Problem {
  const message = `Server id \`${id}\` is also configured in \`${by.file}\`, which wins; this entry is not used.`;
  const fix = 'To use both, rename one of the two servers; otherwise remove this entry.';
  const related = [{ message: 'The entry that wins is here.', place: by }];
  return problem('server-shadowed', 'information', place, message, fix, related);
}

/** Shortens a name or value for a message and removes possible secrets. */
export function shortened(text: string): string {
  if (text === '') return "''";
  const line = text.slice(0, 4096).replace(/[\s\p{Cc}]+/gu, ' ');
  return clipped(withoutSecrets(line), 64);
}
