/**
 * The values of `env` and `headers` of an imported server: what is a secret or refers to variables becomes a reference to
 * a host variable, with a note which one to set (C6).
 */
import { isSecret } from '../base/secrets.js';
import type { Dialect } from './dialects.js';
import type { ImportedValue, ImportNote } from './imported.js';
import { piecesOf, type Piece } from './references.js';

type Table = Readonly<Record<string, unknown>>;

/** The variables that the servers of one import want: one name for one value. */
export class Variables {
  private readonly values = new Map<string, string>();

  /** @param value by which two uses of one name are told apart; @param owner the id of the server. */
  name(wanted: string, owner: string, value: string): string {
    const plain = variableName(wanted);
    for (const name of [plain, variableName(`${owner}_${plain}`)]) {
      const held = this.values.get(name);
      if (held === undefined) this.values.set(name, value);
      if (held === undefined || held === value) return name;
    }
    for (let number = 2; ; number++) {
      const name = variableName(`${owner}_${plain}_${number}`);
      if (this.values.has(name)) continue;
      this.values.set(name, value);
      return name;
    }
  }
}

function variableName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^_+|_+$/g, '');
  return (/^\d/.test(name) ? `_${name}` : name || 'VALUE').toUpperCase();
}

interface ValueContext {
  readonly dialect: Dialect;
  readonly inputs: ReadonlyMap<string, string>;
  readonly around: { readonly home: string };
  readonly variables: Variables;
}

/** Codex's ways to take headers from variables. */
interface HeaderVariables {
  readonly bearer: string | undefined;
  readonly variables: Table | undefined;
}

export class Values {
  constructor(
    private readonly server: string,
    private readonly context: ValueContext,
    private readonly notes: ImportNote[],
  ) {}

  env(table: Table | undefined): Record<string, ImportedValue> | undefined {
    const env: Record<string, ImportedValue> = {};
    for (const [name, value] of Object.entries(table ?? {})) {
      if (value === null || value === undefined || typeof value === 'object') this.wrongValue(`\`env.${name}\``);
      else env[name] = this.value(name, String(value), `\`env.${name}\``, '', name);
    }
    return Object.keys(env).length > 0 ? env : undefined;
  }

  headers(table: Table | undefined, { bearer, variables }: HeaderVariables): Record<string, ImportedValue> | undefined {
    const headers: Record<string, ImportedValue> = {};
    for (const [name, value] of Object.entries(table ?? {})) {
      const where = `header \`${name}\``;
      if (typeof value !== 'string') {
        this.wrongValue(where);
        continue;
      }
      const scheme = /^(?:Bearer|Basic|Token)\s+/i.exec(value)?.[0] ?? '';
      const wanted = /^authorization$/i.test(name) ? `${this.server}_TOKEN` : `${this.server}_${name}`;
      headers[name] = this.value(name, value, where, scheme, wanted);
    }
    for (const [name, variable] of Object.entries(variables ?? {})) headers[name] = { env: String(variable) };
    if (bearer !== undefined) headers['Authorization'] = { prefix: 'Bearer ', env: bearer };
    return Object.keys(headers).length > 0 ? headers : undefined;
  }

  /** @param scheme a beginning that is no secret and may stay, in headers; @param wanted the variable's name, if one is needed. */
  private value(key: string, written: string, where: string, scheme: string, wanted: string): ImportedValue {
    const { dialect, around } = this.context;
    const pieces = piecesOf(written, dialect.references).map((piece): Piece =>
      piece.kind === 'home' ? { kind: 'text', text: around.home } : piece,
    );
    const last = pieces.at(-1);
    const front = pieces.slice(0, -1);
    if (pieces.every((piece) => piece.kind === 'text' || piece.kind === 'folder')) {
      const text = pieces.map((piece) => (piece.kind === 'text' ? piece.text : '.')).join('');
      if (pieces.some(({ kind }) => kind === 'folder'))
        this.note('changed', `${where} is \`${text}\` now: relative to the folder where the server starts.`);
      return isSecret(key, text.slice(scheme.length)) ? this.secret(scheme, text, where, wanted) : text;
    }
    const prefix = front.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
    const only = front.every(({ kind }) => kind === 'text') && (prefix === '' || /^[A-Za-z]+ $/.test(prefix));
    if (only && (prefix === '' || where.startsWith('header'))) {
      if (last?.kind === 'variable') {
        if (last.fallback)
          this.note('lost', `the default of \`${last.name}\` in ${where}: the variable has to be set.`);
        return reference(prefix, last.name);
      }
      if (last?.kind === 'input') {
        const name = this.context.variables.name(last.id, this.server, `input:${last.id}`);
        const asked = this.context.inputs.get(last.id);
        const what = asked ? ` (“${asked.slice(0, 80)}”)` : '';
        this.note('set', `Set the variable \`${name}\` for ${where}: the value that was asked for${what}.`);
        return reference(prefix, name);
      }
    }
    const name = this.context.variables.name(wanted, this.server, written);
    this.note('set', `Set the variable \`${name}\` to the whole value of ${where}, which is put together from others.`);
    return reference('', name);
  }

  private secret(scheme: string, text: string, where: string, wanted: string): ImportedValue {
    const name = this.context.variables.name(wanted, this.server, text);
    this.note(
      'set',
      `Set the variable \`${name}\` to the secret that stands in ${where}${scheme ? `, without “${scheme.trim()}”` : ''}.`,
    );
    return reference(scheme, name);
  }

  private wrongValue(where: string): void {
    this.note('lost', `${where} is not a text.`);
  }

  private note(kind: ImportNote['kind'], message: string): void {
    this.notes.push({ kind, server: this.server, message });
  }
}

function reference(prefix: string, env: string): ImportedValue {
  return prefix === '' ? { env } : { prefix, env };
}
