/**
 * The look of a program's references. `${env:NAME}` includes all others of an editor, such as
 * inputs and folders.
 */
export type Syntax =
  | '${input:ID}'
  | '${env:NAME}'
  | '${NAME}'
  | '$NAME'
  | '{env:NAME}'
  | '{{ NAME }}'
  | '%NAME%';

/** The syntaxes for arguments. Many programs take templates with `{{ }}` as arguments. */
export const argumentSyntaxes: readonly Syntax[] = [
  '${env:NAME}',
  '${NAME}',
  '$NAME',
  '{env:NAME}',
  '%NAME%',
];
export const everySyntax: readonly Syntax[] = [...argumentSyntaxes, '{{ NAME }}'];

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | (Reference & { readonly written: string });

type Reference =
  | {
      readonly kind: 'variable';
      readonly name: string;
      readonly fallback: string | undefined;
    }
  | { readonly kind: 'secret'; readonly name: string }
  | { readonly kind: 'input'; readonly id: string }
  | { readonly kind: 'folder' | 'home' | 'other' };

// The time is linear for any text, because no two repetitions can match the same characters.
const pattern = new RegExp(
  [
    /\$?\{\{(?<template>[^{}]*)\}\}/,
    /\$\{(?<nested>[^{}]*\$\{[^{}]*\}[^{}]*)\}/,
    /\$\{(?<braces>[^{}]+)\}/,
    /\{(?<bare>(?:env|file):[^{}]+)\}/,
    /\$\((?<command>[^()]*)\)/,
    /(?<![\w$!#%^&*~])\$env:(?<shell>[A-Za-z_]\w*)/,
    /(?<![\w$])\$(?<macro>PROJECT_DIR|USER_HOME)\$(?!\w)/,
    /(?<![\w$!#%^&*~])\$(?<name>[A-Za-z_]\w*)/,
    /%(?<percent>[A-Za-z_]\w{2,})%/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

export function piecesOf(text: string, syntaxes: readonly Syntax[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const { 0: written, index, groups = {} } of text.matchAll(pattern)) {
    const found = referenceOf(groups, text, syntaxes);
    if (found === undefined) continue;
    if (index > at) pieces.push({ kind: 'text', text: text.slice(at, index) });
    // The default may be a secret.
    const shown = written.replace(/(?::-|(?<=Env:\w{1,99}):)[^]*/, '}');
    pieces.push(
      typeof found === 'string' ? { kind: 'text', text: found } : { ...found, written: shown },
    );
    at = index + written.length;
  }
  if (at < text.length || pieces.length === 0) pieces.push({ kind: 'text', text: text.slice(at) });
  return pieces;
}

export type ForeignReference = Exclude<Piece, { kind: 'text' }>;

/**
 * Returns the first reference in a text, except for `$name` in small letters, a form of many query
 * languages.
 */
export function foreignReference(
  text: string,
  syntaxes: readonly Syntax[],
): ForeignReference | undefined {
  return piecesOf(text, syntaxes).find(
    (piece): piece is ForeignReference =>
      piece.kind !== 'text' && !/^[$%](?!env:)[^{(]*[a-z]/.test(piece.written),
  );
}

type Groups = Readonly<Record<string, string | undefined>>;

type Reader = (
  inner: string,
  has: (syntax: Syntax) => boolean,
  text: string,
) => Reference | string | undefined;

/** By the groups of the pattern. Undefined for a syntax that does not count. */
const readers: Readonly<Record<string, Reader>> = {
  template: (inner, has) => (has('{{ NAME }}') ? inTemplate(inner.trim()) : undefined),
  nested: (_, has) => (has('${NAME}') ? { kind: 'other' } : undefined),
  braces: (inner, has) => {
    const isPlain = has('${NAME}');
    const isInput = has('${input:ID}') && inner.startsWith('input:');
    return isPlain || isInput || has('${env:NAME}') ? inBraces(inner.trim(), isPlain) : undefined;
  },
  bare: (inner, has) => (has('{env:NAME}') ? inBraces(inner, false) : undefined),
  command: (_, has) => (has('$NAME') ? { kind: 'other' } : undefined),
  // PowerShell writes its environment so.
  shell: (inner, has) => (has('$NAME') ? variable(inner) : undefined),
  // JetBrains writes its folders in this way.
  macro: (inner, has) =>
    has('$NAME') ? { kind: inner === 'USER_HOME' ? 'home' : 'folder' } : undefined,
  name: (inner, has) => (has('$NAME') ? variable(inner) : undefined),
  // Addresses have escapes like `%C3`.
  percent: (inner, has, text) =>
    has('%NAME%') && !text.includes('://') ? variable(inner) : undefined,
};

function referenceOf(
  groups: Groups,
  text: string,
  syntaxes: readonly Syntax[],
): Reference | string | undefined {
  const has = (syntax: Syntax): boolean => syntaxes.includes(syntax);
  for (const [group, inner] of Object.entries(groups))
    if (inner !== undefined) return readers[group]?.(inner, has, text);
  return undefined;
}

function variable(name: string, fallback?: string): Reference {
  return {
    kind: 'variable',
    name,
    fallback,
  };
}

function inBraces(inner: string, isPlain: boolean): Reference | string {
  const [, scheme, name = '', fallback] = /^(env|input):(.+?)(?::-(.*))?$/s.exec(inner) ?? [];
  if (scheme === 'env') return variable(name, fallback);
  if (scheme === 'input') return { kind: 'input', id: inner.slice('input:'.length) };
  const [, ofContainer, value] = /^(?:local|container)Env:([^:]+)(?::(.*))?$/s.exec(inner) ?? [];
  if (ofContainer !== undefined) return variable(ofContainer, value);
  if (
    /^(?:(?:local|container)?WorkspaceFolder|workspaceRoot|CLAUDE_PROJECT_DIR)(?::-.*)?$/is.test(
      inner,
    )
  )
    return { kind: 'folder' };
  if (inner === 'userHome') return { kind: 'home' };
  if (inner === 'pathSeparator' || inner === '/') return '/';
  if (!isPlain || inner === 'workspaceFolderBasename') return { kind: 'other' };
  const [, plain, byDefault] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inner) ?? [];
  return plain === undefined ? { kind: 'other' } : variable(plain, byDefault);
}

function inTemplate(inner: string): Reference {
  const [first = '', second, ...more] = inner.split('.');
  const name = second ?? first;
  const isKnown = second === undefined || first === 'secrets' || first === 'inputs';
  if (!isKnown || more.length > 0 || !/^(?!LIBRECHAT_)[A-Za-z_]\w*$/.test(name))
    return { kind: 'other' };
  return first === 'secrets' ? { kind: 'secret', name } : { kind: 'input', id: name };
}
