/**
 * The keys of the config file, level by level, and the nearest of them to a word that is none (C3).
 */
export const knownKeys = {
  root: ['version', 'servers'],
  server: [
    'enabled',
    'truely-stateless',
    'transport',
    'command',
    'args',
    'cwd',
    'env',
    'url',
    'headers',
    'sessionId',
    'oauth',
    'tools',
    'transform',
    'timeouts',
    'prompts',
    'resources',
  ],
  tools: ['whitelist', 'blacklist'],
  transformItem: ['prefix', 'suffix'],
  replacePrefix: ['remove', 'add'],
  timeouts: ['connect', 'call', 'callMax', 'idle'],
  prompts: ['whitelist', 'blacklist', 'transform'],
  resources: ['whitelist', 'blacklist'],
  envValue: ['env'],
  headerValue: ['prefix', 'env'],
  oauth: ['grant', 'clientId', 'clientSecret', 'privateKey', 'scopes', 'redirectPort'],
} as const;

export type KeyLevel = keyof typeof knownKeys;

/** Keys of a server that mean something with one transport only. */
export const transportOfKey: ReadonlyMap<string, 'stdio' | 'streamable_http'> = new Map([
  ['command', 'stdio'],
  ['args', 'stdio'],
  ['cwd', 'stdio'],
  ['env', 'stdio'],
  ['url', 'streamable_http'],
  ['headers', 'streamable_http'],
  ['sessionId', 'streamable_http'],
  ['oauth', 'streamable_http'],
]);

/** Words of other programs' files, too far from ours for a comparison of letters. Only where the meaning is the same. */
const otherNames: Partial<Record<KeyLevel, Readonly<Record<string, string>>>> = {
  root: { mcpservers: 'servers', mcp: 'servers' },
  server: {
    cmd: 'command',
    type: 'transport',
    environment: 'env',
    workdir: 'cwd',
    workingdirectory: 'cwd',
    endpoint: 'url',
    baseurl: 'url',
    serverurl: 'url',
    httpurl: 'url',
    stateless: 'truely-stateless',
  },
  tools: { allow: 'whitelist', include: 'whitelist', deny: 'blacklist', exclude: 'blacklist' },
};

/** The key that was probably meant; undefined if none is near. */
export function suggestKey(level: KeyLevel, found: string): string | undefined {
  // Near in letters, opposite in meaning.
  if (level === 'server' && found.toLowerCase() === 'disabled') return undefined;
  const named = otherNames[level];
  const plain = withoutSeparators(found);
  if (named && Object.hasOwn(named, plain)) return named[plain];
  return nearest(found, knownKeys[level]);
}

/** The candidate with the fewest slips of the pen from `found`; undefined if even that one is far. */
export function nearest(found: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = Infinity;
  const plain = withoutSeparators(found);
  for (const candidate of candidates) {
    const slips = Math.min(distance(found, candidate), distance(plain, withoutSeparators(candidate)) + 0.5);
    const allowed = Math.max(1.5, Math.floor(Math.max(found.length, candidate.length) / 3));
    if (slips <= allowed && slips < fewest) {
      best = candidate;
      fewest = slips;
    }
  }
  return best;
}

function withoutSeparators(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

/** Damerau–Levenshtein: insertions, deletions, substitutions and exchanges of neighbours. */
export function distance(a: string, b: string): number {
  // Long words are never near a key, and the table grows with their product.
  if (Math.abs(a.length - b.length) > 32 || a.length > 128 || b.length > 128) return Infinity;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const exchanged = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (exchanged) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
