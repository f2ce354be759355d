/** The only maker of catalogued problems. */
import { filled } from './language.js';
import type { Place, Problem } from './problem.js';
import { catalogue, type ProblemCode, type TextKey } from './problemCatalogue.js';

/** A server, with the place of its key. */
interface OfServer {
  readonly server: string;
  readonly places: { readonly key: Place };
}

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Exclude<Name, 'server' | '' | `${string}${' ' | ','}${string}`> | NamesIn<Rest>
  : never;

type Texts = typeof catalogue;

const parts = ['severity', 'place', 'tool', 'pattern', 'instead', 'related'] as const;

/**
 * The values of the `{name}`s in the texts of a problem, and more parts of it. A value may be such
 * a part too.
 */
export type Given<Key extends TextKey> = Partial<Pick<Problem, (typeof parts)[number]>> & {
  readonly [Name in NamesIn<Texts[Key]['message' | 'fix']>]: string | number;
};

/** @param at a server's problem is at its key, unless a place is given */
export function problemOf<Key extends TextKey>(
  key: Key,
  at: Place | OfServer,
  given: Given<Key>,
): Problem {
  const { severity, message, fix } = catalogue[key];
  const where = 'server' in at ? { place: at.places.key, server: at.server } : { place: at };
  const values = { ...given, ...where } as unknown as Readonly<Record<string, string>>;
  const more = parts.flatMap((part) => (part in given ? [[part, given[part]]] : []));
  const code = key.replace(/:.*/, '') as ProblemCode;
  return {
    code,
    severity,
    message: filled(message, values),
    fix: filled(fix, values),
    ...where,
    ...Object.fromEntries(more),
  };
}
