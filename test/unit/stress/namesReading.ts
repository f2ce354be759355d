/**
 * A second reading of the rules for names (N4), written from the rules and not from the product:
 * a truth table, names as arrays of characters, sets of claims. It shares nothing with `src`.
 */
export type Step =
  | { readonly add: string; readonly at: 'front' | 'end' }
  | { readonly from: string; readonly to: string };

export interface ReadServer {
  readonly id: string;
  readonly enabled: boolean;
  readonly whitelist: readonly string[];
  readonly blacklist: readonly string[];
  readonly steps: readonly Step[];
  readonly lists: readonly string[];
}

interface Reading {
  /** `server/name`. */
  readonly published: readonly string[];
  readonly refused: readonly string[];
  /** `code server`, once for each problem. */
  readonly problems: readonly string[];
}

/**
 * Matches by the rest of the name after each literal part: the first at the front, the last at the
 * end.
 */
export function fits(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  if (parts.length === 1) return pattern === name;
  const [front = '', ...rest] = parts;
  const back = rest.pop() ?? '';
  if (!name.startsWith(front)) return false;
  let left = name.slice(front.length);
  for (const part of rest) {
    const at = left.indexOf(part);
    if (at < 0) return false;
    left = left.slice(at + part.length);
  }
  return left.length >= back.length && left.endsWith(back);
}

/** The rows are those of N2: is there a whitelist, is there a blacklist, does each match. */
const table: Readonly<Record<string, boolean>> = {
  'no no': true,
  'hit no': true,
  'miss no': false,
  'no hit': false,
  'no miss': true,
  'hit hit': true,
  'hit miss': true,
  'miss hit': false,
  'miss miss': true,
};

function column(patterns: readonly string[], name: string): 'no' | 'hit' | 'miss' {
  const counted = patterns.filter((pattern) => /\S/.test(pattern));
  if (counted.length === 0) return 'no';
  return counted.some((pattern) => fits(pattern, name)) ? 'hit' : 'miss';
}

function renamed(name: string, steps: readonly Step[]): string {
  let now = [...name];
  for (const step of steps) {
    if ('at' in step) now = step.at === 'front' ? [...step.add, ...now] : [...now, ...step.add];
    else {
      const has = [...step.from].every((character, index) => now[index] === character);
      now = [...step.to, ...(has ? now.slice([...step.from].length) : now)];
    }
  }
  return now.join('');
}

const letters = new Set('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-');
const isName = (name: string): boolean =>
  name.length > 0 && name.length <= 64 && [...name].every((character) => letters.has(character));

export function readAgain(servers: readonly ReadServer[], builtIn: ReadonlySet<string>): Reading {
  const claimed = new Map([...builtIn].map((name) => [name, 'built in']));
  const published: string[] = [];
  const refused: string[] = [];
  const problems: string[] = [];
  for (const { id, enabled, whitelist, blacklist, steps, lists } of servers) {
    if (!enabled) continue;
    const say = (code: string): void => void problems.push(`${code} ${id}`);
    for (const pattern of [...whitelist, ...blacklist])
      if (!/\S/.test(pattern)) say('pattern-blank');
    const once = [...new Set(lists)];
    if (lists.length === 0) say('list-empty');
    const own: { readonly original: string; readonly name: string }[] = [];
    const aside: string[] = [];
    for (const original of once) {
      if (!table[`${column(whitelist, original)} ${column(blacklist, original)}`]) continue;
      if (!isName(original)) aside.push('tool-name-invalid');
      else if (!isName(renamed(original, steps))) aside.push('published-name-invalid');
      else {
        own.push({ original, name: renamed(original, steps) });
        if (lists.filter((other) => other === original).length > 1) aside.push('tool-listed-twice');
      }
    }
    if (new Set(own.map(({ name }) => name)).size < own.length) {
      refused.push(id);
      continue;
    }
    aside.forEach(say);
    for (const pattern of whitelist) {
      if (/\S/.test(pattern) && !once.some((name) => fits(pattern, name)))
        say('pattern-matches-nothing');
    }
    for (const pattern of blacklist) {
      if (!/\S/.test(pattern)) continue;
      const hit = once.filter((name) => fits(pattern, name));
      if (hit.length === 0) say('pattern-matches-nothing');
      // Names that overrule a pattern leave it its effect on later names.
      const rescuers = whitelist.filter((one) => one.includes('*') || !pattern.includes('*'));
      if (hit.length > 0 && hit.every((name) => column(rescuers, name) === 'hit'))
        say('pattern-overruled');
    }
    const holders = new Set<string>();
    for (const { name } of own) {
      const holder = claimed.get(name);
      if (holder !== undefined) holders.add(holder);
      else {
        claimed.set(name, id);
        published.push(`${id}/${name}`);
      }
    }
    // All names of two servers together are one problem.
    for (const holder of holders) say(holder === 'built in' ? 'name-reserved' : 'name-taken');
  }
  return { published, refused, problems: problems.sort() };
}
