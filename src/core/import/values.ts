/**
 * The values of an imported server (C6): secrets and references become references here, with a note
 * on what to set.
 */
import { english } from '../base/language.js';
import type { Span } from '../base/readings.js';
import { isSecret, secretSpansOf, withoutSecrets } from '../base/secrets.js';
import { asText, andList } from '../base/text.js';
import type { Dialect, Table } from './dialects.js';
import type { ImportedTable, ImportedValue, ImportNote, ImportFolders } from './imported.js';
import {
  argumentSyntaxes,
  everySyntax,
  foreignReference,
  piecesOf,
  type Piece,
  type Syntax,
} from '../config/foreignReferences.js';

/**
 * Returns the value of a used name, empty if unknown; undefined if free. The environment counts
 * only for inputs.
 */
export type Held = (name: string, isInput: boolean) => string | undefined;

export class Variables {
  private readonly values = new Map<string, string>();
  readonly referred = new Set<string>();
  readonly secrets = new Map<string, string>();

  constructor(private readonly held: Held = () => undefined) {}

  /** @param owner the id of the server; @param value distinguishes two uses of one name */
  name(wanted: string, owner: string, value: string): string {
    const isInput = value.startsWith('input:');
    const isFree = (one: string): boolean =>
      [undefined, value].includes(this.values.get(one) ?? this.held(one, isInput));
    const plain = variableName(wanted).slice(0, longestName);
    const long = variableName(`${owner}_${plain}`).slice(0, longestName);
    let name = [plain, long].find(isFree);
    for (let number = 2; name === undefined; number++) name = [`${long}_${number}`].find(isFree);
    this.values.set(name, value);
    return name;
  }

  isNew(name: string): boolean {
    return this.values.has(name);
  }

  secret(wanted: string, owner: string, value: string): string {
    const name = this.name(wanted, owner, value);
    this.secrets.set(name, value);
    return name;
  }
}

/** The name of a secret has 64 characters; this leaves room for a number. */
const longestName = 60;

function variableName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^_+|(?<!_)_+$/g, '');
  return (/^\d/.test(name) ? `_${name}` : name || 'VALUE').toUpperCase();
}

/** An `input` of VS Code: a question to the person. A password has no default. */
export type Input = Readonly<{
  description: string;
  byDefault: string | undefined;
  isPassword: boolean;
}>;

export interface TranslationContext {
  readonly dialect: Dialect;
  readonly inputs: ReadonlyMap<string, Input>;
  readonly folders: ImportFolders;
  readonly variables: Variables;
}

/** With the name of the option, variable, header or parameter, or an empty text. */
type NamedSecret = Span & { readonly name: string };

interface Slot {
  readonly where: string;
  /** Returns the name of the variable for a secret of this name, or for the whole value. */
  readonly wanted: (secret: string | undefined) => string;
  readonly secrets: (text: string) => readonly NamedSecret[];
  readonly prefix?: string;
  readonly suffix?: string;
}

export class Values {
  /** True if the server starts in another folder, so `.` is not the workspace folder. */
  startsElsewhere = false;
  /**
   * The `env` of the entry as written. A program like `mcp-remote` puts these variables into its
   * arguments.
   */
  ownVariables: Table = {};
  /** Empty for a shell. */
  argumentSyntaxes: readonly Syntax[] = argumentSyntaxes;

  constructor(
    private readonly server: string,
    private readonly context: TranslationContext,
    private readonly note: (kind: ImportNote['kind'], message: string) => void,
  ) {}

  /** @param kept the names of variables with values in the program's own storage */
  env(table: Table | undefined, kept: readonly string[]): ImportedTable | undefined {
    const slotOf = (name: string): Slot => ({
      where: `\`env.${name}\``,
      wanted: (secret) => (secret === undefined ? `${this.server}_${name}` : name),
      secrets: (text) => (isSecret(name, text) ? [{ start: 0, end: text.length, name }] : []),
    });
    const env = this.map(table, slotOf);
    for (const name of kept) env[name] ??= this.secret(name, slotOf(name));
    return Object.keys(env).length > 0 ? env : undefined;
  }

  /**
   * @param variables the variables of Codex by their headers; @param bearer the variable with a
   * bearer token
   */
  headers(
    table: Table | undefined,
    variables: Table,
    bearer: string | undefined,
  ): ImportedTable | undefined {
    const slotOf = (name: string): Slot => ({
      where: english`header \`${name}\``,
      wanted: () =>
        /^authorization$/i.test(name) ? `${this.server}_TOKEN` : `${this.server}_${name}`,
      secrets: (text) => {
        const scheme = /^(?:Bearer|Basic|Token)\s+/i.exec(text)?.[0] ?? '';
        return isSecret(name, text.slice(scheme.length))
          ? [{ start: scheme.length, end: text.length, name }]
          : [];
      },
    });
    const key = 'env_http_headers';
    const set = Object.entries(variables).map(([name, value]) => ({
      name,
      variable: asText(value),
      prefix: '',
      key,
    }));
    if (bearer !== undefined) {
      set.push({
        name: 'Authorization',
        variable: bearer,
        prefix: 'Bearer ',
        key: 'bearer_token_env_var',
      });
    }
    const written = Object.entries(table ?? {}).filter(([name]) => {
      const other = set.find((each) => each.name.toLowerCase() === name.toLowerCase());
      if (other)
        this.note('lost', english`header \`${name}\`: \`${other.key}\` sets it too, and is used.`);
      return !other;
    });
    const headers = this.map(Object.fromEntries(written), slotOf);
    for (const { name, variable, prefix } of set) {
      headers[name] = this.variable(variable, undefined, { ...slotOf(name), prefix });
    }
    return Object.keys(headers).length > 0 ? headers : undefined;
  }

  /** @param index counts from zero; @param before the argument in front of it */
  argument(written: string, index: number, before: string | undefined): ImportedValue {
    return this.value(written, {
      where: english`argument ${index + 1}`,
      wanted: (secret) =>
        secret !== undefined && /^[A-Z][A-Z0-9_]+$/.test(secret)
          ? secret
          : `${this.server}_${secret === undefined ? `ARGUMENT_${index + 1}` : secret.replace(/^-+/, '') || 'SECRET'}`,
      secrets: (text) => namedSecrets(text, before ?? ''),
    });
  }

  url(written: string): ImportedValue {
    return this.value(written, {
      where: 'the URL',
      wanted: (secret = 'URL') => `${this.server}_${secret}`,
      secrets: (text) => namedSecrets(text),
    });
  }

  /** Returns a path with its folders written out, or undefined if it has other references. */
  path(written: string, what: string): string | undefined {
    const pieces = this.withFolders(written, { where: what, secrets: () => [] });
    return pieces.every(({ kind }) => kind === 'text') ? joined(pieces) : undefined;
  }

  private map(
    table: Table | undefined,
    slotOf: (name: string) => Slot,
  ): Record<string, ImportedValue> {
    const values: Record<string, ImportedValue> = {};
    for (const [name, value] of Object.entries(table ?? {})) {
      const slot = slotOf(name);
      if (value === undefined) continue;
      if (value === null)
        this.note('lost', english`${slot.where} has no value (\`null\`), so it is left out.`);
      else if (typeof value === 'object') this.note('lost', english`${slot.where} is not a text.`);
      else values[name] = this.value(asText(value), slot);
    }
    return values;
  }

  private value(written: string, slot: Slot): ImportedValue {
    const { variables } = this.context;
    const pieces = this.withFolders(written, slot);
    const references = pieces.filter(({ kind }) => kind !== 'text');
    const [only] = references;
    if (only === undefined) return this.literal(joined(pieces), slot);
    const at = pieces.indexOf(only);
    const prefix = joined(pieces.slice(0, at));
    const suffix = joined(pieces.slice(at + 1));
    if (
      references.length === 1 &&
      slot.secrets(prefix).length === 0 &&
      slot.secrets(suffix).length === 0
    ) {
      const place = {
        ...slot,
        prefix,
        suffix,
      };
      if (only.kind === 'variable') return this.variable(only.name, only.fallback, place);
      if (only.kind === 'input') return this.input(only.id, place);
      if (only.kind === 'secret') return this.secret(only.name, place);
    }
    const name = variables.name(slot.wanted(undefined), this.server, written);
    const from = andList(
      references.map((piece) => (piece.kind === 'text' ? '' : `\`${piece.written}\``)),
    );
    this.note(
      'set',
      english`Set the variable \`${name}\` to the whole value of ${slot.where}, which combines ${from}.`,
    );
    return { env: name };
  }

  private variable(written: string, fallback: string | undefined, slot: Slot): ImportedValue {
    const { where } = slot;
    const isMistaken = isSecret('', written);
    const name = isMistaken
      ? this.context.variables.name(slot.wanted(undefined), this.server, written)
      : written;
    const byDefault = openDefault(name, fallback, slot);
    if (!isMistaken) this.context.variables.referred.add(name.toUpperCase());
    if (isMistaken) {
      this.note(
        'set',
        english`Set the variable \`${name}\` for ${where}: the file has a secret in the place of its name.`,
      );
    } else if (fallback !== undefined && byDefault === undefined) {
      this.note(
        'set',
        english`Set the variable \`${name}\` for ${where}: its default looks like a secret and is left out.`,
      );
    }
    return reference('env', name, slot, byDefault);
  }

  private input(id: string, slot: Slot): ImportedValue {
    const { inputs, variables } = this.context;
    const name = variables.name(id, this.server, `input:${id}`);
    const { description = '', byDefault, isPassword } = inputs.get(id) ?? {};
    const what = description === '' ? '' : ` (“${withoutSecrets(description).slice(0, 80)}”)`;
    this.note(
      'set',
      isPassword
        ? english`Enter the secret \`${name}\` for ${slot.where}: the value that the other program asks for${what}.`
        : english`Set the variable \`${name}\` for ${slot.where}: the value that the other program asks for${what}.`,
    );
    if (isPassword) return reference('secret', name, slot);
    return reference('env', name, slot, openDefault(name, byDefault, slot));
  }

  private secret(name: string, slot: Slot): ImportedValue {
    const { dialect, variables } = this.context;
    const wanted = variables.name(name, this.server, `secret:${name}`);
    this.note(
      'set',
      english`Enter the secret \`${wanted}\` for ${slot.where}: ${dialect.program} keeps it outside the file.`,
    );
    return reference('secret', wanted, slot);
  }

  private literal(text: string, slot: Slot): ImportedValue {
    const { dialect, variables } = this.context;
    const isArgument = slot.where.startsWith('argument');
    const syntaxes = isArgument ? this.argumentSyntaxes : everySyntax;
    const isReference = ({ start, end }: NamedSecret): boolean =>
      piecesOf(text.slice(start, end), everySyntax).every(({ kind }) => kind !== 'text');
    const [secret, ...more] = slot.secrets(text).filter((found) => !isReference(found));
    if (secret === undefined) {
      const foreign = foreignReference(text, syntaxes);
      if (
        foreign &&
        !(isArgument && foreign.kind === 'variable' && foreign.name in this.ownVariables)
      ) {
        this.note(
          'set',
          english`Replace \`${foreign.written}\` in ${slot.where} if it is a reference: ${dialect.program} takes it literally.`,
        );
      }
      return text;
    }
    if (more.length > 0) {
      const name = variables.secret(slot.wanted(undefined), this.server, text);
      this.note(
        'set',
        english`Enter the secret \`${name}\`: the whole value of ${slot.where}, which holds several secrets.`,
      );
      return { secret: name };
    }
    const name = variables.secret(
      slot.wanted(secret.name),
      this.server,
      text.slice(secret.start, secret.end),
    );
    const prefix = text.slice(0, secret.start);
    this.note(
      'set',
      /^\w+\s+$/.test(prefix)
        ? english`Enter the secret \`${name}\`: the one in ${slot.where}, without “${prefix.trim()}”.`
        : english`Enter the secret \`${name}\`: the one in ${slot.where}.`,
    );
    return reference('secret', name, {
      ...slot,
      prefix,
      suffix: text.slice(secret.end),
    });
  }

  /**
   * Returns text for a reference in an argument if the entry sets the variable: the started program
   * reads it.
   */
  private unlessOwn(piece: Piece, where: string): Piece {
    if (piece.kind !== 'variable' || piece.fallback !== undefined || !where.startsWith('argument'))
      return piece;
    const own = this.ownVariables[piece.name];
    const pieces =
      typeof own === 'string' ? piecesOf(own, this.context.dialect.references) : [piece];
    return pieces.every(({ kind }) => kind === 'text')
      ? { kind: 'text', text: piece.written }
      : piece;
  }

  private withFolders(
    written: string,
    { where, secrets }: Pick<Slot, 'where' | 'secrets'>,
  ): Piece[] {
    const { dialect, folders } = this.context;
    const found = piecesOf(written, dialect.references).map((piece) =>
      this.unlessOwn(piece, where),
    );
    const isHome = (piece: Piece): boolean =>
      piece.kind === 'home' || (piece.kind === 'variable' && piece.name === 'HOME' && hasOthers);
    // A value has one variable at most, so `HOME` is written out next to another, as in
    // `${HOME}/bin:${PATH}`.
    const hasOthers = found.filter(({ kind }) => kind !== 'text').length > 1;
    let before = '';
    let changed = false;
    const pieces = found.map((piece): Piece => {
      const isFolder = piece.kind === 'folder' || isHome(piece);
      changed ||= isFolder;
      const folder = this.startsElsewhere || before.endsWith('/') ? folders.folder : '.';
      const next: Piece = isFolder
        ? { kind: 'text', text: isHome(piece) ? folders.home : folder }
        : piece;
      before += next.kind === 'text' ? next.text : '*';
      return next;
    });
    if (changed) {
      const text = pieces.every(({ kind }) => kind === 'text') ? joined(pieces) : undefined;
      this.note(
        'changed',
        text !== undefined && secrets(text).length === 0
          ? english`${where} is \`${text}\` now, because values here do not refer to folders.`
          : english`${where} has its folder written out, because values here do not refer to folders.`,
      );
    }
    return pieces;
  }
}

/**
 * Returns a default, unless the name of the variable or the place of the value makes it a secret.
 */
function openDefault(
  variable: string,
  byDefault: string | undefined,
  slot: Slot,
): string | undefined {
  const { prefix = '', suffix = '', secrets } = slot;
  if (byDefault === undefined || isSecret(variable, byDefault)) return undefined;
  return secrets(prefix + byDefault + suffix).length === 0 ? byDefault : undefined;
}

function reference(
  kind: 'env' | 'secret',
  name: string,
  slot: Slot,
  byDefault?: string,
): ImportedValue {
  const { prefix = '', suffix = '' } = slot;
  return {
    ...(prefix !== '' && { prefix }),
    [kind]: name,
    ...(suffix !== '' && { suffix }),
    ...(byDefault !== undefined && { default: byDefault }),
  } as ImportedValue;
}

function joined(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
}

/**
 * The longest name with the signs behind it. A text may have many secrets, so the search back has a
 * limit.
 */
const longestSecretName = 100;

/** Returns the name in `NAME=`, `name: Bearer ` and the like at the end of a text. */
function nameBefore(text: string): string | undefined {
  const rest = text.trimEnd();
  const word = rest.length < text.length ? (/[A-Za-z]{5,6}$/.exec(rest)?.[0] ?? '') : '';
  const sign = (
    ['bearer', 'basic', 'token'].includes(word.toLowerCase()) ? rest.slice(0, -word.length) : rest
  ).trimEnd();
  if (!/[=:]$/.test(sign)) return undefined;
  return /(?<![\w.-])[\d.-]*([A-Za-z_][\w.-]*)$/.exec(sign.slice(0, -1).trimEnd())?.[1];
}

/** @param before of an argument: the previous one, perhaps its option */
function namedSecrets(text: string, before?: string): NamedSecret[] {
  const option = before?.startsWith('-') === true ? before : '';
  return secretSpansOf(text, before).flatMap(({ start, end }) => {
    // The started program expands such references, for example `mcp-remote`.
    if (start >= end || text.slice(start, end).includes('${')) return [];
    const own = nameBefore(text.slice(Math.max(0, start - longestSecretName), start));
    const name = text.charAt(end) === '@' ? 'password' : (own ?? (start === 0 ? option : ''));
    return [{ start, end, name }];
  });
}
