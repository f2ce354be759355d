/** The keys of the config file, level by level, and the one that was probably meant by a word that is none of them (C3). */
import { nearest, withoutSeparators } from '../base/nearest.js';

export const knownKeys = {
  root: ['version', 'servers'],
  server: [
    'enabled',
    'truely-stateless',
    'start',
    'spare',
    'transport',
    'command',
    'args',
    'cwd',
    'env',
    'envFile',
    'url',
    'headers',
    'sessionId',
    'oauth',
    'tools',
    'transform',
    'timeouts',
    'prompts',
    'resources',
    'manual',
  ],
  tools: ['whitelist', 'blacklist', 'transform'],
  transformItem: ['prefix', 'suffix'],
  replacePrefix: ['remove', 'add'],
  timeouts: ['connect', 'call', 'callMax', 'idle'],
  prompts: ['whitelist', 'blacklist', 'transform'],
  resources: ['whitelist', 'blacklist', 'mimeTypes', 'maxBytes'],
  manual: ['content', 'sections'],
  reference: ['prefix', 'env', 'secret', 'command', 'suffix', 'default'],
  oauth: ['grant', 'clientId', 'issuer', 'clientSecret', 'privateKey', 'scopes', 'redirectPort'],
} as const;

/** Keys of Dominds, with which the file is shared, that mean nothing here. */
export const keysOfOthers: Partial<Record<keyof typeof knownKeys, readonly string[]>> = {
  resources: ['transform', 'skills'],
  manual: ['contentFile'],
};

export type KeyLevel = keyof typeof knownKeys;

/** Keys of a server that mean something with one transport only. */
export const transportOfKey: ReadonlyMap<string, 'stdio' | 'streamable_http'> = new Map([
  ...['command', 'args', 'cwd', 'env', 'envFile'].map((key) => [key, 'stdio'] as const),
  ...['url', 'headers', 'sessionId', 'oauth'].map((key) => [key, 'streamable_http'] as const),
]);

/** The words of other programs that mean the same as a key and are too far from it to be found by comparing letters. */
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

/** Returns the key that was probably meant, or undefined if none is near. */
export function suggestKey(level: KeyLevel, found: string): string | undefined {
  // `enabled` is near in letters and opposite in meaning, so it is not suggested.
  if (level === 'server' && found.toLowerCase() === 'disabled') return undefined;
  const named = otherNames[level];
  const plain = withoutSeparators(found);
  if (named && Object.hasOwn(named, plain)) return named[plain];
  return nearest(found, knownKeys[level]);
}
