/**
 * Translates one server (C6): every key is in the entry or in a note, and no secret is in either.
 */
import path from 'node:path';
import { english } from '../base/language.js';
import { asFields, asList, isObject, isTexts } from '../base/isObject.js';
import { isBelow } from '../base/paths.js';
import { isSecretName, secretSpansOf } from '../base/secrets.js';
import { asText, commaList } from '../base/text.js';
import { durationText, milliseconds } from '../config/durations.js';
import { commandWords, isShell } from '../base/commandWords.js';
import type { Table } from './dialects.js';
import type { ImportedEntry, ImportedValue, ImportNote } from './imported.js';
import { Values, type Input, type TranslationContext } from './values.js';

const httpWords = ['http', 'sse', 'remote', 'streamable-http', 'streamable_http', 'streamablehttp'];
const commandKeys = ['command', 'cmd'];
/** Gemini CLI prefers `httpUrl`. */
const urlKeys = ['httpUrl', 'url', 'serverUrl', 'uri'];
const cwdKeys = ['cwd', 'workingDirectory', 'working_directory'];
const envKeys = ['env', 'environment', 'envs'];
const headerKeys = ['headers', 'http_headers'];
const otherHeaderKeys = ['bearer_token_env_var', 'env_http_headers'];
const enabledKeys = ['enabled', 'isEnabled', 'isActive', 'is_active', 'active'];
const oauthKeys = ['oauth', 'auth', 'oauthScopes'];
const changesServer = (key: string): boolean =>
  isSecretName(key) || /sandbox|helper|proxy|container|permission/i.test(key);

const descriptive = [
  'name',
  'serverName',
  'title',
  'display_name',
  'description',
  '$schema',
  'version',
  'source',
  'icon',
  'iconPath',
  'faviconUrl',
  'gallery',
  'fromGalleryId',
  'bundled',
  'chatMenu',
];

export class Translator {
  readonly notes: ImportNote[] = [];
  private readonly keys: Keys;
  private inexact = false;

  constructor(
    private readonly id: string,
    raw: Table,
    private readonly context: TranslationContext,
  ) {
    this.keys = new Keys(raw, (message, decides) =>
      decides ? this.lose(message) : this.note('lost', message),
    );
  }

  /** Returns undefined for a server that import skips. A note gives the reason. */
  translate(): ImportedEntry | undefined {
    const transport = this.transport();
    if (transport === undefined) return undefined;
    const inputs = new Map([...this.context.inputs, ...this.userVariables()]);
    const context = { ...this.context, inputs };
    const values = new Values(this.id, context, (kind, message) => this.note(kind, message));
    const launch = transport === 'stdio' ? this.program(values) : this.address(values);
    if (launch === undefined) return undefined;
    const entry: ImportedEntry = { transport, ...launch };
    const tools = this.tools();
    if (tools) entry.tools = tools;
    this.permissions();
    this.timeouts(entry);
    const states = enabledKeys.map((key) => this.keys.truth(key));
    const off = this.keys.truth('disabled') === true || states.includes(false);
    this.rest(transport);
    if (this.inexact && !off) {
      this.note(
        'changed',
        'it is imported with `enabled: false`, because the items under “Not carried over” may change what it does.',
      );
    }
    return { ...((off || this.inexact) && { enabled: false }), ...entry };
  }

  /** Returns the variables for which LibreChat asks each of its users. */
  private userVariables(): (readonly [string, Input])[] {
    return Object.entries(this.keys.table('customUserVars') ?? {}).map(([name, about]) => {
      const { title, sensitive } = asFields(about);
      return [
        name,
        {
          description: textOf(title) ?? '',
          isPassword: sensitive !== false,
          byDefault: undefined,
        },
      ];
    });
  }

  private transport(): ImportedEntry['transport'] | undefined {
    const word = this.keys.text('type', 'transport', 'transportType');
    const hasUrl = this.keys.has(...urlKeys);
    const hasCommand = this.keys.has(...commandKeys);
    const plain = word?.toLowerCase() ?? '';
    if (plain === 'stdio' || plain === 'local') return 'stdio';
    if (httpWords.includes(plain)) {
      return hasUrl ? 'streamable_http' : this.skip('it has no URL.');
    }
    if (word !== undefined) {
      return this.skip(english`the transport \`${word.slice(0, 40)}\` does not exist here.`);
    }
    if (hasUrl && hasCommand && !this.context.dialect.prefersUrl) {
      return this.skip('it has a command and a URL.');
    }
    if (hasUrl) return 'streamable_http';
    return hasCommand ? 'stdio' : this.skip('it has neither a command nor a URL.');
  }

  private program(values: Values): Partial<ImportedEntry> | undefined {
    const [command, ...args] = this.commandLine();
    if (command === undefined || command === '') {
      return this.skip('it has no command.');
    }
    if (holdsSecret(command)) {
      return this.skip(
        'its command holds a secret: write only the program into `command`, and the rest into `args`.',
      );
    }
    const envFile = this.envFile(values);
    const written = this.keys.text(...cwdKeys);
    const cwd = written === undefined ? undefined : this.path(values, written, '`cwd`');
    values.startsElsewhere = cwd !== undefined && cwd !== '.';
    const table = this.keys.table(...envKeys);
    values.ownVariables = table ?? {};
    if (isShell(command)) values.argumentSyntaxes = [];
    const imported = args.map((arg, index): ImportedValue =>
      values.argument(arg, index, args[index - 1]),
    );
    const env = values.env(table, this.keys.names('env_keys') ?? []);
    return {
      command: this.path(values, command, 'the command') ?? command,
      ...(imported.length > 0 && { args: imported }),
      ...(cwd !== undefined && cwd !== '.' && { cwd }),
      ...(envFile !== undefined && { envFile }),
      ...(env && { env }),
    };
  }

  private envFile(values: Values): string | undefined {
    const written = this.keys.text('envFile');
    if (written === undefined) return undefined;
    const { folder } = this.context.folders;
    const file = this.path(values, written, '`envFile`');
    if (file === undefined || isBelow(path.resolve(folder, file), folder)) return file;
    return this.lose(
      '`envFile` is outside the workspace folder, so it is not read. Move its variables to `env`, or the server to `~/.minds/mcp.yaml`.',
    );
  }

  private commandLine(): string[] {
    const command = this.keys.take(...commandKeys);
    const args = this.keys.take('args');
    const words = this.list(command, '`command`');
    const rest = typeof args === 'string' ? this.split(args, '`args`') : this.list(args, '`args`');
    const [first] = words;
    // Only paths have blanks in the name of a program.
    const isLine =
      words.length === 1 && first !== undefined && /^[^\s/\\]+\s+\S/.test(first.trim());
    return [...(isLine ? this.split(first, '`command`') : words), ...rest];
  }

  private list(value: unknown, what: string): string[] {
    const items = Array.isArray(value) ? value : value === undefined ? [] : [value];
    return items.flatMap((item: unknown, index) => {
      if (typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean') {
        return [String(item)];
      }
      this.lose(english`item ${index + 1} of ${what} is not a text, and is left out.`);
      return [];
    });
  }

  private split(line: string, what: string): string[] {
    const words = commandWords(line);
    if (words) {
      this.note(
        'changed',
        english`${what} was one text. It is split at its blanks into ${words.length} items.`,
      );
    } else {
      this.lose(english`${what} is one text in which a quote is not closed; it is left whole.`);
    }
    return words ?? [line];
  }

  private path(values: Values, written: string, what: string): string | undefined {
    if (holdsSecret(written)) {
      return this.lose(
        english`${what} holds a secret. Only arguments and values can refer to a secret, so it is left out.`,
      );
    }
    const found = values.path(written, what);
    if (found !== undefined) return found;
    this.lose(
      english`${what} refers to a variable. Only arguments and values can do so, so it stays as it was.`,
    );
    return written;
  }

  private address(values: Values): Partial<ImportedEntry> | undefined {
    const written = this.keys.text(...urlKeys)?.trim();
    if (written === undefined || written === '') {
      return this.skip('it has no URL.');
    }
    const [scheme = 'https:'] = /^[a-z][a-z0-9+.-]*:/i.exec(written) ?? [];
    if (!/^https?:$/i.test(scheme)) {
      return this.skip(
        english`its URL begins with \`${scheme.slice(0, 20)}\`, and only \`http:\` and \`https:\` are supported here.`,
      );
    }
    const url = values.url(written);
    const table = this.keys.table(...headerKeys);
    const variables = this.keys.table('env_http_headers');
    const headers = values.headers(table, variables ?? {}, this.keys.text('bearer_token_env_var'));
    return { url, ...(headers && { headers }) };
  }

  private tools(): ImportedEntry['tools'] | undefined {
    const { keys } = this;
    const lists = allowKeys.filter((key) => key !== 'tools' || !isObject(keys.peek(key)));
    // Goose takes an empty list for all tools.
    const available = keys.names('available_tools');
    const allowed = keys.names(...lists) ?? (available?.length === 0 ? undefined : available);
    const denied = [...(keys.names(...denyKeys) ?? []), ...(keys.names('disabledPatterns') ?? [])];
    const exceptions = keys.names('enabledPatterns') ?? [];
    if (allowed && !(allowed.length === 1 && allowed[0] === '*')) {
      const kept = allowed.filter((name) => !denied.includes(name));
      const patterns = kept.filter((name) => name.includes('*'));
      if (patterns.length > 0 && denied.length > 0) {
        this.lose(
          english`${codeList(denied)} of ${codeList(patterns)}: a whitelist wins over a blacklist here, so these tools are not kept out.`,
        );
      }
      return kept.length > 0 ? { whitelist: kept } : { blacklist: ['*'] };
    }
    if (denied.length === 0) return undefined;
    return { ...(exceptions.length > 0 && { whitelist: exceptions }), blacklist: denied };
  }

  /** Notes trusted tools, because permissions are a setting (S4). */
  private permissions(): void {
    const trusted = this.keys.take(...trustKeys);
    const names = trusted === true ? ['*'] : asList(trusted).map(asText);
    const trustsAll = names.includes('*');
    const modes = new Map(trustsAll ? [] : names.map((name) => [name, 'allow']));
    const others: string[] = [];
    const tools = this.keys.peek('tools');
    if (isObject(tools)) {
      this.keys.take('tools');
    }
    for (const [name, settings] of Object.entries(asFields(tools))) {
      // It may be a list of the tools that run.
      this.inexact ||= !isObject(settings);
      if (!isObject(settings)) {
        others.push(`tools.${name}`);
      }
      for (const [key, value] of Object.entries(asFields(settings))) {
        const permission = key === 'approval_mode' ? permissionsOfModes.get(value) : undefined;
        if (permission === undefined) {
          others.push(`tools.${name}.${key}`);
        } else {
          modes.set(name, permission);
        }
      }
    }
    const lost = (message: string): void => this.note('lost', message);
    if (trustsAll) {
      lost(
        'there, all tools run without a question. Here, list such tools in `mcpToolsets.toolPermissions`.',
      );
    }
    if (modes.size > 0) {
      const setting = `\`"mcpToolsets.toolPermissions": ${JSON.stringify(Object.fromEntries(modes))}\``;
      lost(english`permissions are a setting here: ${setting}, for the published names.`);
    }
    const unlike = 'there is nothing like it here.';
    if (typeof trusted === 'string') {
      lost(english`the permission \`${trusted.slice(0, 40)}\`: ${unlike}`);
    }
    if (others.length > 0) {
      lost(english`${codeList(others)}: ${unlike}`);
    }
  }

  private timeouts(entry: ImportedEntry): void {
    const limits: Record<string, string> = {};
    const setBy = new Map<string, string>();
    for (const { key, unitMs, limits: what } of this.context.dialect.timeLimits) {
      const ms = this.keys.duration(key, unitMs);
      if (ms === undefined) continue;
      const earlier = setBy.get(what);
      if (earlier) {
        this.note(
          'lost',
          english`\`${earlier}\` sets the same limit as \`${key}\`, which is used.`,
        );
      }
      setBy.set(what, key);
      limits[what] = durationText(ms);
      // Here, a call may take longer while it shows progress. There, it may not.
      if (what === 'call') {
        limits['callMax'] = limits[what];
      }
    }
    if (Object.keys(limits).length > 0) {
      entry.timeouts = limits;
    }
  }

  private rest(transport: ImportedEntry['transport']): void {
    const left = new Set(this.keys.left());
    const named = (kind: 'lost' | 'changed', known: readonly string[], about: string): void => {
      const found = known.filter((key) => left.delete(key)).map((key) => key.slice(0, 40));
      if (found.length > 0) {
        this.note(kind, english`${codeList(found)}: ${about}`);
      }
    };
    named(
      'lost',
      oauthKeys,
      'most servers need none; see the key `oauth` for a client that is registered.',
    );
    const [foreign, why] =
      transport === 'stdio'
        ? [
            [...headerKeys, ...otherHeaderKeys, ...urlKeys],
            'this has no effect on a server that is started by a command.',
          ]
        : [
            [...envKeys, ...commandKeys, ...cwdKeys, 'args', 'envFile', 'env_keys'],
            'this has no effect on a server that is reached at a URL.',
          ];
    named('lost', foreign, why);
    named('changed', ['env_vars'], 'servers get the whole environment here.');
    named('lost', descriptive, 'descriptions are not kept here.');
    const times = [...left].filter((key) => /time_?out/i.test(key));
    named('lost', times, 'the unit is not known, so no limit is set. See the key `timeouts`.');
    this.inexact ||= [...left].some(changesServer);
    named('lost', [...left], 'there is nothing like it here.');
  }

  private skip(why: string): undefined {
    this.notes.push({ kind: 'skipped', message: english`${code(this.id)}: ${why}` });
    return undefined;
  }

  private lose(message: string): undefined {
    this.inexact = true;
    return this.note('lost', message);
  }

  private note(kind: ImportNote['kind'], message: string): undefined {
    this.notes.push({
      kind,
      server: this.id,
      message,
    });
    return undefined;
  }
}

function holdsSecret(text: string): boolean {
  return secretSpansOf(text).length > 0;
}

const allowKeys = [
  'enabled_tools',
  'enabledTools',
  'allowedTools',
  'allowed_tools',
  'includeTools',
  'tools',
];
const denyKeys = [
  'disabled_tools',
  'disabledTools',
  'deniedTools',
  'excludeTools',
  'excludedTools',
];
const trustKeys = ['alwaysAllow', 'autoApprove', 'autoAllow', 'auto_approve', 'trust'];

const permissionsOfModes = new Map<unknown, string>(
  Object.entries({
    approve: 'allow',
    auto: 'allow',
    prompt: 'ask',
  }),
);

/**
 * Reads the keys of one server by type. Each unread key and unusable value has a note, so import
 * drops no key in silence.
 */
class Keys {
  private readonly read = new Set<string>();

  /** @param complain `decides` is true if the server would do something else without the value */
  constructor(
    private readonly raw: Table,
    private readonly complain: (message: string, decides: boolean) => undefined,
  ) {}

  has(...keys: string[]): boolean {
    return keys.some((key) => isThere(this.raw[key]));
  }

  peek(key: string): unknown {
    return this.raw[key];
  }

  take(...keys: string[]): unknown {
    const [key, ...others] = keys.filter((each) => isThere(this.raw[each]));
    keys.forEach((each) => this.read.add(each));
    for (const other of others) {
      this.complain(
        english`\`${other}\` means the same as \`${key ?? ''}\`, which is used.`,
        false,
      );
    }
    return key === undefined ? undefined : this.raw[key];
  }

  text(...keys: string[]): string | undefined {
    const text = this.as(keys, 'a text', (value) =>
      typeof value === 'number' ? String(value) : textOf(value),
    );
    return text === '' ? undefined : text;
  }

  table(...keys: string[]): Table | undefined {
    return this.as(keys, 'an object', (value) => (isObject(value) ? value : undefined));
  }

  /** Returns a list of names. A single name counts as a list. */
  names(...keys: string[]): string[] | undefined {
    return this.as(keys, 'a list of names', (value) => {
      const names: readonly unknown[] = Array.isArray(value) ? value : [value];
      return isTexts(names) ? [...names] : undefined;
    });
  }

  /** Returns a boolean, even if it is written as a text. */
  truth(key: string): boolean | undefined {
    const isWord = (word: string, value: unknown): boolean => asText(value).toLowerCase() === word;
    return this.as([key], english`\`true\` or \`false\``, (value) =>
      [true, false].find((one) => isWord(String(one), value)),
    );
  }

  /** Returns milliseconds. @param unitMs the unit of a plain number */
  duration(key: string, unitMs: number): number | undefined {
    const value = this.take(key);
    if (value === undefined) return undefined;
    const isNumber =
      typeof value === 'number' ||
      (typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value));
    const ms = isNumber ? Number(value) * unitMs : milliseconds(asText(value));
    if (ms === undefined || ms <= 0) {
      return this.complain(english`\`${key}\` is not a duration.`, false);
    }
    if (!isNumber || ms >= 1000) return ms;
    return this.complain(
      english`\`${key}\` would be ${ms} ms, which is too short to be meant, so it is not carried over.`,
      false,
    );
  }

  left(): string[] {
    return Object.keys(this.raw).filter((key) => isThere(this.raw[key]) && !this.read.has(key));
  }

  private as<Value>(
    keys: readonly string[],
    expected: string,
    read: (value: unknown) => Value,
  ): Value | undefined {
    const value = this.take(...keys);
    const key = keys.find((each) => isThere(this.raw[each]));
    return value === undefined
      ? undefined
      : (read(value) ?? this.complain(english`\`${key ?? ''}\` is not ${expected}.`, true));
  }
}

export function code(text: string): string {
  return `\`${text}\``;
}

function codeList(texts: readonly string[]): string {
  return commaList(texts.map(code));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
