/**
 * One server of another program as an entry of `.minds/mcp.yaml` (C6). What is not exact is not started: an entry
 * that would not do what the original did is imported with `enabled: false` and a note.
 *
 * Invariants: every key of the original is translated, noted, or one that only describes; no secret gets into entry or
 * note.
 */
import { isObject } from '../base/isObject.js';
import { withoutArgumentSecrets, withoutSecrets } from '../base/secrets.js';
import { durationText } from '../config/durations.js';
import type { Dialect } from './dialects.js';
import type { ImportedEntry, ImportNote, ImportSurroundings } from './imported.js';
import { piecesOf, type Piece } from './references.js';
import { Values, type Variables } from './values.js';

type Table = Readonly<Record<string, unknown>>;

interface TranslationContext {
  readonly dialect: Dialect;
  readonly inputs: ReadonlyMap<string, string>;
  readonly around: ImportSurroundings;
  readonly variables: Variables;
}

interface Translation {
  /** Undefined: it cannot be imported; a note says why. */
  readonly entry: ImportedEntry | undefined;
  readonly notes: readonly ImportNote[];
}

export function translate(id: string, raw: Table, context: TranslationContext): Translation {
  return new Translator(id, raw, context).translate();
}

/** A secret does not get into the file; a reference to a variable is none. */
const removal = {
  mask: 'SECRET_REMOVED',
  spare: (value: string): boolean => value.includes('${'),
  environment: false,
};

const httpWords = ['http', 'sse', 'remote', 'streamable-http', 'streamableHttp', 'streamable_http', 'streamablehttp'];

class Translator {
  private readonly notes: ImportNote[] = [];
  private readonly read = new Set<string>();
  /** It would not do what the original does. */
  private inexact = false;

  constructor(
    private readonly id: string,
    private readonly raw: Table,
    private readonly context: TranslationContext,
  ) {}

  translate(): Translation {
    const transport = this.transport();
    if (transport === undefined) return { entry: undefined, notes: this.notes };
    const entry: ImportedEntry = { transport };
    const values = new Values(this.id, this.context, this.notes);
    if (transport === 'stdio') {
      const [command, ...rest] = this.commandLine();
      if (command === undefined) return this.skip('it has no command.');
      const cwd = this.folder();
      entry.command = this.path(command, cwd, 'the command');
      const args = withoutArgumentSecrets(
        rest.map((arg, index) => this.path(arg, cwd, `argument ${index + 1}`)),
        removal,
      );
      for (const index of args.held) {
        this.lose(
          `argument ${index + 1} held what looks like a secret. Arguments cannot refer to variables: it is taken out. ` +
            'See whether the server reads it from the environment.',
        );
      }
      if (args.args.length > 0) entry.args = args.args;
      if (cwd !== undefined && cwd !== '.') entry.cwd = cwd;
      const env = values.env(this.table('env', 'environment'));
      if (env) entry.env = env;
    } else {
      entry.url = this.url();
      const headers = values.headers(this.table('headers', 'http_headers'), {
        bearer: this.text('bearer_token_env_var'),
        variables: this.table('env_http_headers'),
      });
      if (headers) entry.headers = headers;
    }
    this.tools(entry);
    this.timeouts(entry);
    const off = this.take('disabled') === true || this.take('enabled') === false;
    this.rest();
    if (off || this.inexact) entry.enabled = false;
    if (this.inexact && !off)
      this.note('changed', 'it is imported with `enabled: false`, because it is not exact yet.');
    return { entry: ordered(entry), notes: this.notes };
  }

  private transport(): ImportedEntry['transport'] | undefined {
    const word = this.text('type', 'transport', 'transportType');
    const hasUrl = this.text('url', 'serverUrl', 'httpUrl') !== undefined;
    const hasCommand = this.raw['command'] !== undefined;
    if (word === 'stdio' || word === 'local') return 'stdio';
    if (word !== undefined && httpWords.includes(word)) {
      if (hasUrl) return 'streamable_http';
      this.skip('it has no URL.');
    } else if (word !== undefined) this.skip(`the transport \`${word.slice(0, 40)}\` does not exist here.`);
    else if (hasUrl && hasCommand) this.skip('it has a command and a URL.');
    else if (hasUrl) return 'streamable_http';
    else if (hasCommand) return 'stdio';
    else this.skip('it has neither a command nor a URL.');
    return undefined;
  }

  private commandLine(): string[] {
    const command = this.take('command');
    const args = this.take('args');
    const list = [...(Array.isArray(command) ? command : [command]), ...(Array.isArray(args) ? args : [])];
    return list.filter((part) => part !== undefined && part !== null && part !== '').map(String);
  }

  private folder(): string | undefined {
    const written = this.text('cwd');
    if (written === undefined) return undefined;
    return this.path(written, undefined, '`cwd`');
  }

  private url(): string {
    const url = this.path(this.text('url', 'serverUrl', 'httpUrl') ?? '', undefined, 'the URL');
    const clean = withoutSecrets(url, removal);
    if (clean === url) return url;
    this.lose(
      'the URL held what looks like a secret. A URL cannot refer to a variable: it is taken out. See whether the server takes it in a header.',
    );
    return clean;
  }

  /** A text in which only folders can be referred to. @param cwd where the server starts, if that is not the workspace folder */
  private path(written: string, cwd: string | undefined, what: string): string {
    const pieces = piecesOf(written, this.context.dialect.references);
    if (pieces.every(({ kind }) => kind === 'text'))
      return joined(pieces, (piece) => ('text' in piece ? piece.text : ''));
    const startsElsewhere = cwd !== undefined && cwd !== '.';
    let exact = true;
    const text = joined(pieces, (piece, before) => {
      if (piece.kind === 'text') return piece.text;
      if (piece.kind === 'home') return this.context.around.home;
      if (piece.kind === 'folder' && !startsElsewhere && !before.endsWith('/')) return '.';
      exact = false;
      return sourceOf(piece, this.context.dialect.references);
    });
    if (exact) this.note('changed', `${what} is \`${text}\` now, because texts here do not refer to folders.`);
    else
      this.lose(
        `${what} refers to a variable, which works in \`env\` and \`headers\` alone. It is written as it was, as a mere text.`,
      );
    return text;
  }

  private tools(entry: ImportedEntry): void {
    const names = (...keys: string[]): string[] | undefined => {
      const value = this.take(...keys);
      return Array.isArray(value) ? value.map(String) : undefined;
    };
    const allowed = names('enabled_tools', 'includeTools', 'tools');
    const denied = names('disabled_tools', 'disabledTools', 'excludeTools');
    const patterns = names('disabledPatterns');
    if (allowed && !(allowed.length === 1 && allowed[0] === '*')) {
      const kept = allowed.filter((name) => !denied?.includes(name));
      entry.tools = kept.length > 0 ? { whitelist: kept } : { blacklist: ['*'] };
    } else if (denied || patterns) {
      const blacklist = [...(denied ?? []), ...(patterns ?? [])];
      if (blacklist.length > 0) entry.tools = { blacklist };
    }
    const trusted = names('alwaysAllow', 'autoApprove', 'autoAllow');
    if (trusted && trusted.length > 0) {
      this.note(
        'lost',
        `the tools that run without a question (${trusted.map((name) => `\`${name}\``).join(', ')}): here the editor asks.`,
      );
    }
  }

  private timeouts(entry: ImportedEntry): void {
    const limits: Record<string, string> = {};
    for (const { key, unitMs, limits: what } of this.context.dialect.timeLimits) {
      const value = this.take(key);
      if (typeof value !== 'number' || !(value > 0)) continue;
      const duration = durationText(value * unitMs);
      limits[what] = duration;
      // Here a call may take longer while it shows progress; there it may not.
      if (what === 'call') limits['callMax'] = duration;
    }
    if (Object.keys(limits).length > 0) entry.timeouts = limits;
  }

  /** What nobody asked for. */
  private rest(): void {
    const { dialect } = this.context;
    const silent = ['enabled', 'disabled', 'type', 'transport', 'env', 'headers', 'args', 'cwd', 'oauth'];
    if (this.raw['envFile'] !== undefined)
      this.lose('`envFile`: write its variables into `env`, or into the environment of the editor.');
    if (isObject(this.raw['oauth']) || isObject(this.raw['auth'])) {
      this.note(
        'lost',
        'its OAuth settings: most servers need none; see the key `oauth` for a client that is registered.',
      );
    }
    const unknown = Object.keys(this.raw).filter(
      (key) => !this.read.has(key) && ![...dialect.silent, ...silent, 'envFile', 'auth'].includes(key),
    );
    if (unknown.length > 0) {
      this.note(
        'lost',
        `${unknown.map((key) => `\`${key.slice(0, 40)}\``).join(', ')}: there is nothing like it here.`,
      );
    }
  }

  private table(...keys: string[]): Table | undefined {
    const value = this.take(...keys);
    return isObject(value) ? value : undefined;
  }

  private text(...keys: string[]): string | undefined {
    const value = this.take(...keys);
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  private take(...keys: string[]): unknown {
    const key = keys.find((each) => this.raw[each] !== undefined);
    keys.forEach((each) => this.read.add(each));
    return key === undefined ? undefined : this.raw[key];
  }

  private skip(why: string): Translation {
    this.notes.push({ kind: 'skipped', message: `\`${this.id}\`: ${why}` });
    return { entry: undefined, notes: this.notes };
  }

  private lose(message: string): void {
    this.inexact = true;
    this.note('lost', message);
  }

  private note(kind: ImportNote['kind'], message: string): void {
    this.notes.push({ kind, server: this.id, message });
  }
}

function joined(pieces: readonly Piece[], textOf: (piece: Piece, before: string) => string): string {
  return pieces.reduce((before, piece) => before + textOf(piece, before), '');
}

function sourceOf(piece: Piece, style: Dialect['references']): string {
  const around = (inner: string): string => (style === 'opencode' ? `{${inner}}` : `\${${inner}}`);
  switch (piece.kind) {
    case 'text':
      return piece.text;
    case 'variable':
      return around(style === 'shell' ? piece.name : `env:${piece.name}`);
    case 'input':
      return around(`input:${piece.id}`);
    case 'folder':
      return around('workspaceFolder');
    case 'home':
      return around('userHome');
    case 'other':
      return piece.written;
  }
}

const order = ['enabled', 'transport', 'command', 'args', 'cwd', 'env', 'url', 'headers', 'tools', 'timeouts'] as const;

function ordered(entry: ImportedEntry): ImportedEntry {
  return Object.fromEntries(
    order.filter((key) => entry[key] !== undefined).map((key) => [key, entry[key]]),
  ) as unknown as ImportedEntry;
}
