/** Quick fixes at a key and its value. Each is a minimal edit, and each helps. */
import type { ProblemCode } from '../base/problem.js';
import { asText } from '../base/text.js';
import { EditNodes, isAlias, isAnchored, isScalar } from '../yaml/editNodes.js';
import * as edits from '../yaml/edits.js';
import { commandWords } from '../config/read/commandWords.js';
import { suggestKey, suggestTransports, transportOfKey } from '../config/keys.js';
import { textOf } from '../yaml/valueNodes.js';
import type { ConfigSymbol } from './symbols.js';

export interface QuickFix {
  readonly title: string;
  readonly does:
    | { readonly kind: 'edit'; readonly edits: readonly edits.TextEdit[] }
    | { readonly kind: 'command'; readonly command: ServerCommand; readonly server: string }
    | { readonly kind: 'create'; readonly path: string }
    /** The person enters the value of a secret; the edits are made when they have. */
    | { readonly kind: 'secret'; readonly name: string; readonly edits: readonly edits.TextEdit[] };
  /** True for the most likely fix. */
  readonly preferred: boolean;
  readonly safe: boolean;
}

export type ServerCommand =
  | 'restart'
  | 'start'
  | 'showServerLog'
  | 'signIn'
  | 'approve'
  | 'acceptTools'
  | 'removeRivals';

export type KeySymbol = Extract<ConfigSymbol, { kind: 'key' }>;

/** @param rank a safe fix is preferred too */
export function fix(
  title: string,
  made: edits.Edits,
  rank: 'possible' | 'preferred' | 'safe' = 'possible',
): QuickFix[] {
  if (!made || made.length === 0) return [];
  return [{ title, does: { kind: 'edit', edits: made }, preferred: rank !== 'possible', safe: rank === 'safe' }];
}

function scalarAt({ entry: { value } }: KeySymbol): string {
  return value.kind === 'scalar' ? String(value.value) : '';
}

export function changeTo(nodes: EditNodes, { entry }: KeySymbol, to: string): QuickFix[] {
  return fix(`Change to '${to}'`, edits.replaceValue(nodes, entry.keySpan.start, to), 'preferred');
}

export function removal(nodes: EditNodes, { entry }: KeySymbol, title = `Remove '${entry.key}'`): QuickFix[] {
  return fix(title, edits.removeKey(nodes, entry.keySpan.start));
}

export function unknownKey(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const { level, entry, map, doc } = symbol;
  if (doc) return [];
  const at = entry.keySpan.start;
  const remove = removal(nodes, symbol);
  const { value } = entry;
  if (level === 'server' && entry.key.toLowerCase() === 'disabled') {
    if (value.kind !== 'scalar' || typeof value.value !== 'boolean' || map.entries.has('enabled')) return remove;
    const key = edits.renameKey(nodes, at, 'enabled');
    const turned = edits.replaceValue(nodes, at, String(!value.value), 'raw');
    return [...fix(`Change to 'enabled: ${!value.value}'`, key && turned && [...key, ...turned], 'safe'), ...remove];
  }
  const meant = suggestKey(level, entry.key);
  if (meant === undefined || map.entries.has(meant)) return remove;
  // A guessed folder or file may not exist.
  const rank = meant === 'cwd' || meant === 'envFile' ? 'preferred' : 'safe';
  return [...fix(`Rename to '${meant}'`, edits.renameKey(nodes, at, meant), rank), ...remove];
}

export function transport(nodes: EditNodes, symbol: KeySymbol, code: ProblemCode): QuickFix[] {
  const found = scalarAt(symbol);
  const { entry, map } = symbol;
  const sse = code === 'transport-sse';
  if (sse !== (found === 'sse') || found === 'stdio' || found === 'streamable_http') return [];
  const isProgram = sse && map.entries.has('command') && !map.entries.has('url');
  const meant = isProgram ? ['stdio'] : suggestTransports(found);
  const rank = sse ? 'safe' : meant.length > 1 ? 'possible' : 'preferred';
  return meant.flatMap((value) =>
    fix(`Change to 'transport: ${value}'`, edits.replaceValue(nodes, entry.keySpan.start, value), rank),
  );
}

export function keyNotForTransport(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const { level, entry, map } = symbol;
  const belongsTo = level === 'server' ? transportOfKey.get(entry.key) : undefined;
  if (belongsTo === undefined || textOf(map.entries.get('transport')?.value) === belongsTo) return [];
  return removal(nodes, symbol);
}

export function duplicateKey(nodes: EditNodes, at: number): QuickFix[] {
  const { map, pair } = nodes.pairAt(at) ?? {};
  // Headers are the same key in upper and lower case.
  const name = ({ key }: { readonly key: unknown }): string => asText(isScalar(key) ? key.value : key).toLowerCase();
  if (!map || !pair || map.items.filter((one) => name(one) === name(pair)).length < 2) return [];
  return fix('Remove this duplicate', edits.removeKey(nodes, at));
}

export function wrongType(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const { value, keySpan } = symbol.entry;
  const kind = symbol.doc?.value.kind;
  if (value.kind !== 'scalar' || value.value === null) return [];
  const change = (title: string, to: string, rank: 'preferred' | 'safe'): QuickFix[] =>
    fix(`Change to ${title}`, edits.replaceValue(nodes, keySpan.start, to, 'raw'), rank);
  if (kind === 'truth') {
    const [, yes, no] = /^(?:(true|yes|on)|(false|no|off))$/i.exec(String(value.value)) ?? [];
    const said = yes === undefined ? no && 'false' : 'true';
    return said === undefined ? [] : change(`'${said}'`, said, 'safe');
  }
  const written = nodes.text.slice(value.span.start, value.span.end);
  if ((kind !== 'texts' && kind !== 'arguments') || /^[|>&*!]|[\r\n]/.test(written)) return [];
  return change(`the list '[${written}]'`, `[${edits.scalarText(String(value.value))}]`, 'preferred');
}

export function duration(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const [, amount = '0', unit = ''] =
    /^(\d{1,4}) ?(h|hours?|min|minutes?|sec|seconds?)?$/i.exec(scalarAt(symbol).trim()) ?? [];
  if (amount === '0') return [];
  const letter = unit.charAt(0).toLowerCase();
  const options =
    letter === 'h' ? [`${Number(amount) * 60}m`] : letter ? [amount + letter] : [`${amount}s`, `${amount}ms`];
  const rank = options.length === 1 ? 'preferred' : 'possible';
  return options.flatMap((value) =>
    fix(`Change to '${value}'`, edits.replaceValue(nodes, symbol.entry.keySpan.start, value, 'raw'), rank),
  );
}

/** Moves words behind the program into the arguments. Shared keys get no fix: other servers may have other partners. */
export function argumentsOfCommand(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const at = symbol.entry.keySpan.start;
  const [program, ...more] = commandWords(scalarAt(symbol)) ?? [];
  const { map, pair } = nodes.pairAt(at) ?? {};
  if (program === undefined || more.length === 0 || !map || !pair) return [];
  const command = edits.replaceValue(nodes, at, program);
  const words = more.map((word) => edits.scalarText(word, "'"));
  const written = nodes.pairOf(map, 'args');
  const isShared = [pair.value, written?.pair.value].some((node) => isAlias(node) || isAnchored(node));
  if (isShared || (!written && symbol.map.entries.has('args'))) return [];
  const moved = written
    ? edits.prependItems(nodes, written, words)
    : edits.insertAfter(nodes, at, 'args', `[${words.join(', ')}]`);
  return fix("Move the arguments to 'args'", command && moved && [...command, ...moved], 'safe');
}

export function url(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const written = scalarAt(symbol).trim();
  if (!/^(?:localhost|\d+(?:\.\d+){3}|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/\S*)?$/i.test(written)) return [];
  return changeTo(nodes, symbol, `${/^(?:localhost|127\.)/i.test(written) ? 'http' : 'https'}://${written}`);
}

/** Offers spaces for tabs in the indentation, if the result is YAML. Other tabs stay if possible. */
export function spacesForTabs(text: string): QuickFix[] {
  const tab = /^ {1,8}(?=[^\s#])/m.exec(text)?.[0] ?? '  ';
  const spaces = (blanks: string): string => blanks.replaceAll('\t', tab);
  for (const indentation of [/^\t[ \t]*/gm, /^ *\t[ \t]*/gm]) {
    if (!EditNodes.read(text.replace(indentation, spaces))) continue;
    const made = [...text.matchAll(indentation)].map(({ 0: blanks, index }) => ({
      span: { start: index, end: index + blanks.length },
      text: spaces(blanks),
    }));
    return fix('Change the tabs to spaces', made, 'preferred');
  }
  return [];
}
