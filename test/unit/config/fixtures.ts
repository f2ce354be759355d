/** An imaginary workspace, and short ways to parse a file in it. */
import type { Problem } from '../../../src/core/base/problem.js';
import type {
  ConfigDeps,
  ConfiguredServer,
  EnvFileReading,
  ParsedSource,
  ServerDefinition,
  SourceText,
} from '../../../src/core/config/model.js';
import { parseMindsFile } from '../../../src/core/config/read/parse.js';
import { posixPath } from '../../support/places.js';

export const hostEnv = {
  PATH: '/bin',
  SEARCH_TOKEN: 'search-secret',
  PLAYWRIGHT_TOKEN: 'playwright-secret',
  EMPTY: '',
};

const envFiles: Readonly<Record<string, EnvFileReading>> = {
  '/ws/.env': {
    kind: 'text',
    text: '# Of the program.\nexport API_KEY="secret-a"\nMODE=ci # one of two\nMODE=dev\nTWO="one\\ntwo"\nEMPTY=\nnot a variable\n',
  },
  '/ws/blank.env': { kind: 'text', text: `A=1\n${'\n'.repeat(1000)}B=2\n` },
  '/ws/nul.env': { kind: 'text', text: 'SECRET=a\0b\n' },
};

function outsideOf(file: string, within: string | undefined): EnvFileReading {
  const isOutside = within !== undefined && !file.startsWith(`${posixPath(within)}/`);
  return {
    kind: 'refused',
    reason: isOutside ? `it is outside ${posixPath(within)}` : 'it does not exist',
  };
}

export const configDeps: ConfigDeps = {
  env: hostEnv,
  directoryExists: (directory) => ['/ws', '/ws/sub'].includes(posixPath(directory)),
  secret: (name) => (name === 'KEPT' ? 'kept-secret' : undefined),
  envFile: (file, within) => envFiles[posixPath(file)] ?? outsideOf(posixPath(file), within),
};

export function sourceOf(text: string | undefined, folder = '/ws'): SourceText {
  return { file: `${folder}/.minds/mcp.yaml`, folder, text };
}

export function parse(text: string | undefined, overrides: Partial<ConfigDeps> = {}): ParsedSource {
  return parseMindsFile(sourceOf(text), { ...configDeps, ...overrides });
}

export function serversOf(parsed: ParsedSource): readonly ConfiguredServer[] {
  if (parsed.kind === 'refused')
    throw new Error(`Refused: ${parsed.problems.map(({ message }) => message).join(' ')}`);
  return parsed.servers;
}

/** The only server of a valid text. */
export function definitionOf(text: string, overrides: Partial<ConfigDeps> = {}): ServerDefinition {
  const parsed = parse(text, overrides);
  const [server] = serversOf(parsed);
  if (server?.kind !== 'valid')
    throw new Error(`Not valid: ${parsed.problems.map(({ message }) => message).join(' ')}`);
  return server.definition;
}

export function codes(problems: readonly Problem[]): string[] {
  return problems.map((problem) => problem.code);
}

/** Every key of the format, as in the specification. */
export const wholeFormat = `version: 1
servers:
  playwright:
    enabled: true
    truely-stateless: false
    transport: stdio
    command: npx
    args: ['-y', '@playwright/mcp@latest']
    cwd: .
    env:
      MODE: ci
      TOKEN: { env: PLAYWRIGHT_TOKEN }
    tools:
      whitelist: ['browser_*']
      blacklist: ['*_unsafe']
    transform:
      - prefix: 'playwright_'
      - prefix: { remove: 'stock_', add: 'my_' }
      - suffix: '_v2'
    timeouts: { connect: 30s, call: 250ms, callMax: 10m, idle: 900000 }
  search:
    transport: streamable_http
    url: https://example.com/mcp
    headers:
      Authorization: { prefix: 'Bearer ', env: SEARCH_TOKEN }
      X-Client: minds
    sessionId: ''
    oauth: { grant: authorization_code, clientId: me, issuer: 'https://auth.example.com', clientSecret: { env: SEARCH_TOKEN }, privateKey: k, scopes: [a], redirectPort: 33418 }
    prompts: { whitelist: [a], blacklist: [], transform: [{ suffix: _p }] }
    resources: { whitelist: [], blacklist: ['file:*'] }
`;
