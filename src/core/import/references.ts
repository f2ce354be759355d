/**
 * Reads how other programs refer to variables inside texts (C6): `${NAME}`, `${env:NAME}`, `{env:NAME}` and their kin.
 */
export type ReferenceStyle = 'none' | 'shell' | 'editor' | 'opencode';

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  /** `fallback` is the default beside the name. */
  | { readonly kind: 'variable'; readonly name: string; readonly fallback: string | undefined }
  | { readonly kind: 'input'; readonly id: string }
  | { readonly kind: 'folder' }
  | { readonly kind: 'home' }
  | { readonly kind: 'other'; readonly written: string };

const patterns = {
  shell: /\$\{([A-Za-z_]\w*)(:-[^}]*)?\}/g,
  editor: /\$\{([^}]+)\}/g,
  opencode: /\{((?:env|file):[^}]+)\}/g,
} as const;

export function piecesOf(text: string, style: ReferenceStyle): Piece[] {
  if (style === 'none') return [{ kind: 'text', text }];
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(patterns[style])) {
    if (match.index > at) pieces.push({ kind: 'text', text: text.slice(at, match.index) });
    pieces.push(pieceOf(match, style));
    at = match.index + match[0].length;
  }
  if (at < text.length || pieces.length === 0) pieces.push({ kind: 'text', text: text.slice(at) });
  return pieces;
}

function pieceOf([written, inner = '', fallback]: RegExpExecArray, style: Exclude<ReferenceStyle, 'none'>): Piece {
  if (style === 'shell') return { kind: 'variable', name: inner, fallback: fallback?.slice(2) };
  const [, scheme, name = '', otherwise] = /^(env|input):(.+?)(?::-(.*))?$/s.exec(inner) ?? [];
  if (scheme === 'env') return { kind: 'variable', name, fallback: otherwise };
  if (scheme === 'input') return { kind: 'input', id: inner.slice('input:'.length) };
  if (inner === 'workspaceFolder' || inner === 'workspaceRoot') return { kind: 'folder' };
  if (inner === 'userHome') return { kind: 'home' };
  if (inner === 'pathSeparator' || inner === '/') return { kind: 'text', text: '/' };
  return { kind: 'other', written };
}
