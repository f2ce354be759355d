/**
 * The keys of the config file with their documentation, for reading, completion, hover, quick fixes
 * and the JSON schema.
 */
import { filled } from '../base/language.js';
import { nearest, withoutSeparators } from '../base/nearest.js';
import { defaultTimeouts, durationText } from './durations.js';
import type { Launch, Replacement, Timeouts, Transform } from './model.js';

type ToolLevel = 'tools' | 'toolOverride' | 'argumentOverride' | 'transformItem' | 'replacePrefix';
type ServerLevel = 'prompts' | 'resources' | 'manual' | 'timeouts' | 'oauth' | 'reference';
export type KeyLevel = 'root' | 'server' | ServerLevel | ToolLevel;

type Transport = Launch['transport'];

type PlainKind = 'one' | 'truth' | 'zeroOrOne' | 'duration' | 'any' | 'port' | 'size' | 'sections';
type TextOf =
  | 'command'
  | 'folder'
  | 'file'
  | 'session'
  | 'client'
  | 'variable'
  | 'secretName'
  | 'scheme'
  | 'part'
  | 'affix'
  | 'prose';
type ItemOf = 'scope' | 'pattern' | 'allowed' | 'mediaType' | 'word';

export type ValueShape = {
  readonly level?: KeyLevel;
  /** The value of any key of a map. */
  readonly each?: ValueShape;
  readonly item?: ValueShape;
} & (
  | {
      readonly kind:
        | PlainKind
        | 'texts'
        | 'tables'
        | 'servers'
        | 'arguments'
        | 'transforms'
        | 'prefix'
        | 'replacements';
    }
  | {
      readonly kind: 'choice';
      readonly values: readonly { readonly value: string; readonly summary: string }[];
    }
  | { readonly kind: 'text'; readonly of: TextOf | ItemOf }
  /** With `orText`, a text may replace the table. */
  | { readonly kind: 'table'; readonly orText?: true }
  | { readonly kind: 'values'; readonly of: 'variable' | 'header' }
  | { readonly kind: 'value'; readonly of: 'url' | 'secret' | 'variable' | 'header' | 'argument' }
);

/** The value that the reader returns for a shape of this kind. */
interface Reads {
  readonly truth: boolean;
  readonly zeroOrOne: 0 | 1;
  readonly duration: number;
  readonly port: number;
  readonly size: number;
  readonly any: { readonly value: unknown };
  readonly text: string;
  readonly texts: readonly string[];
  readonly transforms: readonly Transform[];
  readonly prefix: string | { readonly remove: string; readonly add: string };
  readonly replacements: readonly Replacement[];
}

type ReadOf<Shape extends ValueShape> = Shape extends {
  readonly kind: 'choice';
  readonly values: readonly { readonly value: infer Word }[];
}
  ? Word
  : Shape['kind'] extends keyof Reads
    ? Reads[Shape['kind']]
    : never;

export interface KeyDoc<Shape extends ValueShape = ValueShape> {
  /** One line of plain text. */
  readonly summary: string;
  readonly details?: string;
  readonly byDefault?: string;
  /** True if the key cannot be left out, for `transport` if there is one. */
  readonly isRequired?: true;
  readonly transport?: Transport;
  readonly value: Shape;
  /** How to correct a value of another shape. `{key}` stands for the key. */
  readonly fix?: string;
  /**
   * A snippet for the text behind the key in block style, with `: ` or the line break. By default
   * it is `: `.
   */
  readonly block?: string;
  readonly flow?: string;
}

type More = Omit<KeyDoc, 'summary' | 'value'>;

const key = <const Shape extends ValueShape>(
  value: Shape,
  summary: string,
  more: More = {},
): KeyDoc<Shape> => ({
  summary,
  value,
  ...more,
});

const text = (of: TextOf, summary: string, more?: More) => key({ kind: 'text', of }, summary, more);

const quoted = (of: TextOf, summary: string, more?: More) =>
  text(of, summary, { block: ": '$1'", ...more });

const texts = (of: ItemOf, summary: string, more?: More) =>
  key({ kind: 'texts', item: { kind: 'text', of } }, summary, { block: ": ['$1']", ...more });

const affix = (summary: string, more?: More) =>
  quoted('affix', summary, {
    fix: "Write a text in quotes, for example `{key}: 'my_'`.",
    ...more,
  });

const truth = (summary: string, more: More) =>
  key({ kind: 'truth' }, summary, {
    fix: 'Write `{key}: true` or `{key}: false`, without quotes.',
    ...more,
  });

type ValueOf = Extract<ValueShape, { kind: 'value' }>['of'];

const value = (of: ValueOf) =>
  ({
    kind: 'value',
    of,
    level: 'reference',
  }) as const;

const values = (of: 'variable' | 'header') =>
  ({
    kind: 'values',
    of,
    each: value(of),
  }) as const;

const table = <const Level extends KeyLevel>(level: Level) => ({ kind: 'table', level }) as const;

const tables = <const Level extends KeyLevel>(level: Level) =>
  ({ kind: 'tables', each: table(level) }) as const;

const choice = <Word extends string>(
  words: Readonly<Record<Word, string>>,
  summary: string,
  more?: More,
) => {
  const described = Object.entries<string>(words).map(([word, about]) => ({
    value: word as Word,
    summary: about,
  }));
  return key({ kind: 'choice', values: described }, summary, more);
};

const patternDetails =
  '`*` matches any text, including none. Every other character matches itself, and case matters. Patterns are matched against the names that the server gives.';

const patterns = (summary: string, details: string) =>
  texts('pattern', summary, {
    fix: "Write a list of patterns, for example `{key}: ['browser_*']`.",
    details: `${details}\n\n${patternDetails}`,
    block: ":\n  - '$1'",
    flow: ": ['$1']",
  });

const filters = (published: string, keptOut: string) => ({
  whitelist: patterns(
    published,
    'Without a blacklist, only names that a pattern matches are published; an empty list publishes all. With a blacklist, this list names exceptions from it.',
  ),
  blacklist: patterns(
    keptOut,
    'A name that a pattern matches is kept out, unless the whitelist matches it too. All other names are published.',
  ),
});

const secret = (summary: string) =>
  key(value('secret'), summary, { block: ': { env: ${1:NAME} }' });

const filterFix = "Write a map, for example `{key}: { whitelist: ['browser_*'] }`.";

const selection = <const Level extends 'prompts' | 'resources'>(level: Level, summary: string) =>
  key(table(level), summary, {
    fix: filterFix,
    block: ": { ${1|whitelist,blacklist|}: ['$2'] }",
  });

const transform = (summary: string) =>
  key({ kind: 'transforms', item: table('transformItem') }, summary, {
    fix: "Write a list, for example `transform: [{ prefix: 'my_' }]`.",
    details:
      '`prefix: x` and `suffix: x` always add. `prefix: { remove: x, add: y }` removes `x` from the front if it is there, and always adds `y`. `replace: { x: y }` writes `y` for every `x`.',
    block: ":\n  - prefix: '$1'",
    flow: ": [{ prefix: '$1' }]",
  });

const changesOfTools = 'Changes to the names of the tools, applied in this order.';

const duration = (of: keyof Timeouts, summary: string) =>
  key({ kind: 'duration' }, summary, {
    details: 'A number of milliseconds, or `250ms`, `30s`, `10m`.',
    byDefault: durationText(defaultTimeouts[of]),
  });

type Level = Readonly<Record<string, KeyDoc>>;

const only = <Of extends Level>(transport: Transport, level: Of): Of => {
  const docs = Object.entries(level).map(([name, doc]) => [name, { ...doc, transport }]);
  return Object.fromEntries(docs) as Of;
};

const stateless = truth('Whether all conversations share one instance of the server.', {
  details:
    '`true`: one instance for all conversations, for a server that keeps nothing between calls. `false`: each conversation has its own instance. `stateless` and `truely-stateless` mean the same.',
  byDefault: 'false',
});

const levels = {
  root: {
    version: key({ kind: 'one' }, 'The version of the format: the number 1.', {
      isRequired: true,
      block: ': 1',
    }),
    servers: key(
      { kind: 'servers', each: table('server') },
      'The MCP servers, each under its id.',
      {
        details:
          'The id is the name of the toolset that agents see: letters, digits, `_` and `-`, at most 64.',
        block: ':\n  $0',
        flow: ': { $1 }',
      },
    ),
    maxInstances: key(
      { kind: 'size' },
      'How many instances conversations may have at once, over all servers.',
      {
        fix: 'Write a whole number above 0, for example `{key}: 64`.',
        details:
          'At the limit, a new conversation ends an instance that was not used for five minutes, or its call fails. The option `--max-instances` and the setting `mcpToolsets.maxInstances` come before this key, and this file before `~/.minds/mcp.yaml`.',
        byDefault: '32',
      },
    ),
  },
  server: {
    transport: choice(
      {
        stdio: 'A program on this machine that speaks over its standard input and output.',
        streamable_http: 'A server at a URL. Older HTTP+SSE servers work too.',
      },
      'How to reach the server.',
      { isRequired: true, fix: 'Write `transport: stdio` or `transport: streamable_http`.' },
    ),
    ...only('stdio', {
      command: text('command', 'The program to start, without a shell.', {
        isRequired: true,
        fix: 'Write the program to start, for example `command: npx`.',
        details: 'A name on `PATH`, or a path. Its arguments belong in `args`.',
      }),
      args: key(
        { kind: 'arguments', item: value('argument') },
        'The arguments of the command, one per item.',
        {
          fix: "Write a list, for example `args: ['-y', 'some-server']`.",
          details:
            'A text, or `{ env: NAME }` or `{ prefix: --token=, env: NAME }` for the value of a variable, which keeps secrets out of the file.',
          block: ": ['$1']",
        },
      ),
      cwd: text(
        'folder',
        'The folder in which the command runs, relative to the workspace folder. It must exist.',
        {
          fix: 'Write a path relative to the workspace folder, for example `cwd: .`.',
          byDefault: 'the workspace folder',
        },
      ),
      env: key(
        values('variable'),
        'Environment variables of the server, in addition to those of the editor.',
        {
          fix: 'Write a map from names to values, for example `env: { MODE: ci }`.',
          details:
            'A text, or `{ env: NAME }` for the value of a variable of the editor, which keeps secrets out of the file. These win over variables of the editor.',
          block: ':\n  ${1:NAME}: $2',
          flow: ': { ${1:NAME}: $2 }',
        },
      ),
      envFile: text(
        'file',
        'A file of environment variables of the server, such as `.env`, relative to the workspace folder.',
        {
          fix: 'Write the path of a file, for example `envFile: .env`.',
          details:
            'A variable in `env` wins over one in the file. The file must be inside the workspace folder. You approve its variables with the server, except the values of secrets. A change of the file restarts the server.',
          block: ': ${1:.env}',
        },
      ),
    }),
    ...only('streamable_http', {
      url: key(value('url'), 'The address of the server.', {
        isRequired: true,
        fix: 'Write an address, for example `url: https://example.com/mcp`.',
        details:
          "A text, or `{ prefix: 'https://example.com/mcp?key=', env: NAME }` if a part of it is a secret.",
        block: ': https://$1',
      }),
      headers: key(values('header'), 'HTTP headers of every request.', {
        fix: "Write a map from names to values, for example `headers: { X-Client: 'minds' }`.",
        details:
          "A text, `{ env: NAME }`, or `{ prefix: 'Bearer ', env: NAME }` for a value from the editor's environment.",
        block: ":\n  Authorization: { prefix: 'Bearer ', env: ${1:NAME} }",
        flow: ": { Authorization: { prefix: 'Bearer ', env: ${1:NAME} } }",
      }),
      sessionId: quoted(
        'session',
        'The MCP session id to send with the first request, if the server expects a particular one.',
        { fix: "Write a text in quotes, or `sessionId: ''` for none." },
      ),
      oauth: key(
        table('oauth'),
        'The client to sign in as, if the authorization server does not register clients automatically.',
        {
          fix: 'Write a map, for example `oauth: { clientId: my-client }`.',
          details:
            'Most servers need nothing here, because *Sign In to Server…* finds out the rest.',
          block: ":\n  clientId: '$1'",
          flow: ": { clientId: '$1' }",
        },
      ),
    }),
    enabled: truth('Whether the server may start. With `false` it is listed, but never started.', {
      byDefault: 'true',
    }),
    stateless,
    'truely-stateless': stateless,
    start: choice(
      {
        window: 'With the window.',
        call: 'With the first call, *Try Tool* or *Start Server*. Until then, agents see the tools that it listed last.',
      },
      'When the server starts.',
      {
        fix: 'Write `window` (with the window) or `call` (with the first call, if its tools are remembered).',
        details:
          'It must start once in a workspace to list its tools. Without this key, the setting `mcpToolsets.start` decides. On the command line, servers start at once.',
      },
    ),
    spare: key(
      { kind: 'zeroOrOne' },
      'Whether a spare instance is started for the next conversation.',
      {
        fix: 'Write 1 (a spare instance is started for the next conversation) or 0 (none is).',
        details:
          '`1`: when a conversation takes an instance, a spare one starts for the next conversation. This applies if each conversation has its own instance, and after two conversations with the server in the workspace. `0`: the first call of a conversation starts its instance.',
        byDefault: '1',
      },
    ),
    tools: key(table('tools'), 'Which tools of the server agents see.', {
      fix: filterFix,
      details: 'Tools that are kept out are published to no agent.',
      block: ":\n  ${1|whitelist,blacklist|}:\n    - '$2'",
      flow: ": { ${1|whitelist,blacklist|}: ['$2'] }",
    }),
    transform: transform(changesOfTools),
    timeouts: key(table('timeouts'), 'How long to wait for the server.', {
      fix: 'Write a map, for example `timeouts: { call: 1m }`.',
      block: ': { ${1|call,connect,callMax,idle|}: ${2:1m} }',
    }),
    prompts: selection(
      'prompts',
      'Which prompts of the server are published and under which names, as for tools.',
    ),
    resources: selection('resources', 'Which resources of the server are published.'),
    manual: key(
      {
        kind: 'table',
        level: 'manual',
        orText: true,
      },
      'What agents are told about the toolset, before the instructions of the server: a text, or a map.',
      { block: ":\n  content: '$1'", flow: ": { content: '$1' }" },
    ),
  },
  tools: {
    ...filters('Patterns of the tools to publish.', 'Patterns of the tools to keep out.'),
    transform: transform(changesOfTools),
    override: key(
      tables('toolOverride'),
      'Descriptions and arguments of single tools, by the names that the server gives.',
      {
        fix: 'Write a map, for example `override: { create_issue: { description: Opens an issue. } }`.',
        details:
          'Agents see the tool as it is written here. The arguments of every call are completed and checked.',
        block: ":\n  ${1:tool}:\n    description: '$2'",
        flow: ": { ${1:tool}: { description: '$2' } }",
      },
    ),
  },
  toolOverride: {
    description: quoted('prose', 'The description for agents, in place of the one of the server.', {
      fix: "Write a text in quotes, for example `description: 'Opens an issue.'`.",
    }),
    arguments: key(
      tables('argumentOverride'),
      'Arguments of the tool, by their names: only those at the top level of its schema.',
      {
        fix: 'Write a map, for example `arguments: { repo: { fixed: acme/app } }`.',
        block: ':\n  ${1:argument}: { ${2|fixed,default,allow|}: $3 }',
        flow: ': { ${1:argument}: { ${2|fixed,default,allow|}: $3 } }',
      },
    ),
  },
  argumentOverride: {
    fixed: key({ kind: 'any' }, 'The value that every call sends. Agents do not see the argument.'),
    default: key(
      { kind: 'any' },
      'The value that a call sends if the agent gives none. The schema names it.',
    ),
    allow: texts(
      'allowed',
      'Patterns of the texts that a call may send. Other calls are refused.',
      {
        fix: "Write a list of patterns, for example `allow: ['bug', 'area-*']`.",
        details:
          'For a text, or a list of texts. `*` matches any text, including none. Every other character matches itself.',
      },
    ),
  },
  prompts: {
    ...filters('Patterns of the prompts to publish.', 'Patterns of the prompts to keep out.'),
    transform: transform('Changes to the names of the prompts, applied in this order.'),
  },
  resources: {
    ...filters('Patterns of the resources to publish.', 'Patterns of the resources to keep out.'),
    mimeTypes: texts(
      'mediaType',
      'The media types of the resources to publish. Without this key, all are published.',
      {
        fix: 'Write a list of media types, for example `mimeTypes: [text/plain]`.',
        block: ': [text/plain$1]',
      },
    ),
    maxBytes: key({ kind: 'size' }, 'The largest resource that may be read, in bytes.', {
      fix: 'Write a number of bytes, for example `maxBytes: 50000`.',
    }),
  },
  manual: {
    content: quoted('prose', 'A text for agents.'),
    sections: key(
      { kind: 'sections' },
      'Titles with a text each: a map, or a list of `{ title, content }`.',
      {
        block: ":\n  ${1:When to use}: '$2'",
      },
    ),
  },
  transformItem: {
    prefix: key(
      { kind: 'prefix', level: 'replacePrefix' },
      'Adds text to the front of each name.',
      {
        fix: "Write a text in quotes, for example `{key}: 'my_'`.",
        details: '`{ remove: x, add: y }` first removes `x` from the front, if it is there.',
        block: ": '$1'",
      },
    ),
    suffix: affix('Adds text to the end of each name.'),
    replace: key({ kind: 'replacements' }, 'Replaces texts wherever they are in each name.', {
      fix: "Write a map of texts, for example `replace: { '.': '_' }`.",
      details: 'Each text stands for itself, and they are replaced in this order.',
      block: ": { '${1:.}': '${2:_}' }",
    }),
  },
  replacePrefix: {
    remove: affix('Text to remove from the front of each name that begins with it.', {
      isRequired: true,
    }),
    add: affix('Text to add to the front of every name, even if nothing was removed.', {
      isRequired: true,
    }),
  },
  timeouts: {
    connect: duration(
      'connect',
      'How long the server may take to connect, initialize and list everything.',
    ),
    call: duration(
      'call',
      'How long a call may take after its last sign of life, such as progress.',
    ),
    callMax: duration('callMax', 'How long a call may take in total.'),
    idle: duration(
      'idle',
      'How long an instance may be without a call before it is stopped. The next call starts a new one.',
    ),
  },
  oauth: {
    grant: choice(
      {
        authorization_code: 'A person, in a browser.',
        client_credentials: 'The client itself, with its secret or key. No person is asked.',
      },
      'Who signs in.',
      {
        fix: 'Write `authorization_code` (a person signs in) or `client_credentials` (a program does).',
        byDefault: 'authorization_code',
      },
    ),
    clientId: quoted('client', 'The id that the authorization server knows this client by.', {
      fix: 'Write the id as the authorization server gave it.',
      details: 'Or the https address of a client id metadata document, if the server accepts one.',
    }),
    issuer: text(
      'client',
      'The issuer of the authorization server. No other server may sign you in.',
      {
        fix: 'Write the address of the authorization server, for example `issuer: https://auth.example.com`.',
        details: 'Required with `clientSecret` and `privateKey`, which are sent only to it.',
        byDefault: 'what the server names',
        block: ": '${1:https://}'",
      },
    ),
    clientSecret: secret('The secret of the client, if it has one.'),
    privateKey: secret(
      'The private key of the client in PEM form, instead of a secret; for `client_credentials`.',
    ),
    scopes: texts('scope', 'The scopes to ask for, instead of those that the server names.', {
      fix: 'Write a list, for example `scopes: [read]`.',
    }),
    redirectPort: key(
      { kind: 'port' },
      'The port of the redirect address `http://127.0.0.1:PORT/callback` with which the client is registered.',
      {
        fix: 'Write the port of the redirect address that the client is registered with, for example `redirectPort: 33418`.',
        byDefault: 'any',
      },
    ),
  },
  reference: {
    prefix: text('scheme', 'The text in front of the value.', {
      fix: 'Write a text in quotes.',
      block: ": 'Bearer '",
    }),
    env: text(
      'variable',
      'The environment variable of the editor whose value is copied when the server starts.',
      {
        fix: 'Write the name alone, for example `env: HOME`.',
        details:
          'If it is not set, the server does not start. If the value changes, the server counts as changed.',
      },
    ),
    secret: text(
      'secretName',
      'The name of a secret. You enter its value once; it is stored outside the config files.',
      {
        fix: 'Write a name for the secret, for example `secret: GITHUB_TOKEN`, and not the secret itself.',
        details:
          'In the editor, *Set Secret…* in *MCP Toolsets: Manage Server…* stores it in the secret storage. On the command line, `mcp-toolsets secret set NAME` stores it in the keyring of the system.',
      },
    ),
    command: texts(
      'word',
      'A program that prints the value, with its arguments; it runs when the server starts.',
      {
        fix: "Write the program and its arguments as a list, for example `command: ['op', 'read', 'op://vault/item']`.",
        details:
          "For example `['op', 'read', 'op://vault/item/field']` or `['gcloud', 'auth', 'print-access-token']`. It runs without a shell in the workspace folder, after you have approved it. Line breaks at the end of its output are removed.",
      },
    ),
    suffix: quoted('part', 'The text after the value.', { fix: 'Write a text in quotes.' }),
    default: quoted('part', 'The text to use if the variable or the secret has no value.', {
      fix: 'Write a text in quotes.',
    }),
  },
} satisfies Readonly<Record<KeyLevel, Level>>;

type Levels = typeof levels;

export type KeyOf<Of extends KeyLevel> = keyof Levels[Of] & string;

/** The value of a key after reading. */
export type ValueAt<Of extends KeyLevel, Key extends KeyOf<Of>> =
  Levels[Of][Key] extends KeyDoc<infer Shape> ? ReadOf<Shape> : never;

export const keys: Readonly<Record<KeyLevel, Level>> = levels;

const ofState: readonly string[] = ['stateless', 'truely-stateless'];

/** Returns all keys with the meaning of a key. A map has at most one of them. */
export function spellingsOf(key: string): readonly string[] {
  return ofState.includes(key) ? ofState : [key];
}

export function docOf(level: KeyLevel, key: string): KeyDoc | undefined {
  return Object.hasOwn(keys[level], key) ? keys[level][key] : undefined;
}

/** @param key as the file names it */
export function fixOf(doc: KeyDoc | undefined, key: string): string {
  return filled(doc?.fix ?? '', { key });
}

export function keysOf(level: KeyLevel): readonly string[] {
  return Object.keys(keys[level]);
}

export function requiredKeys(level: KeyLevel, transport?: string): readonly string[] {
  const isRequired = (doc: KeyDoc): boolean =>
    doc.isRequired === true && (doc.transport === undefined || doc.transport === transport);
  return Object.entries(keys[level]).flatMap(([key, doc]) => (isRequired(doc) ? [key] : []));
}

export const transportOfKey: ReadonlyMap<string, Transport> = new Map(
  Object.entries(keys.server).flatMap(([key, { transport }]) =>
    transport ? [[key, transport] as const] : [],
  ),
);

/** Keys of Dominds, which may share the file. They have no effect here. */
export const keysOfOthers: Partial<Record<KeyLevel, readonly string[]>> = {
  resources: ['transform', 'skills'],
  manual: ['contentFile'],
};

/** Words of other programs for a key. They are too different to be found by comparing letters. */
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
  },
  tools: {
    allow: 'whitelist',
    include: 'whitelist',
    deny: 'blacklist',
    exclude: 'blacklist',
  },
};

export function suggestKey(level: KeyLevel, found: string): string | undefined {
  // `enabled` is near in letters and opposite in meaning, so it is not suggested.
  if (level === 'server' && found.toLowerCase() === 'disabled') return undefined;
  const named = otherNames[level];
  const plain = withoutSeparators(found);
  if (named && Object.hasOwn(named, plain)) return named[plain];
  return nearest(found, keysOf(level));
}

const transports: readonly Transport[] = ['stdio', 'streamable_http'];

export function suggestTransports(found: string): readonly string[] {
  if (/http|sse|remote|url/i.test(found)) return ['streamable_http'];
  const meant = nearest(found, transports);
  return meant === undefined ? transports : [meant];
}
