/** Quick fixes at a key and its value. Each is a minimal edit, and each helps. */
import type { ProblemCode } from '../base/problem.js';
import { asText } from '../base/text.js';
import { EditNodes, isAlias, isAnchored, isScalar } from '../yaml/editNodes.js';
import * as edits from '../yaml/edits.js';
import { nearest } from '../base/nearest.js';
import { commandWords } from '../config/read/commandWords.js';
import { suggestKey, transportOfKey } from '../config/keys.js';
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

export function unknownKey(nodes: EditNodes, { level, entry, map, doc }: KeySymbol): QuickFix[] {
  if (doc) return [];
  const at = entry.keySpan.start;
  const remove = fix(`Remove '${entry.key}'`, edits.removeKey(nodes, at));
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

const transports: readonly string[] = ['stdio', 'streamable_http'];

export function transport(nodes: EditNodes, { entry, map }: KeySymbol, code: ProblemCode): QuickFix[] {
  const found = entry.value.kind === 'scalar' ? String(entry.value.value) : '';
  const sse = code === 'transport-sse';
  if (sse !== (found === 'sse') || transports.includes(found)) return [];
  const meant =
    sse && map.entries.has('command') && !map.entries.has('url')
      ? 'stdio'
      : /http|sse|remote|url/i.test(found)
        ? 'streamable_http'
        : nearest(found, transports);
  const rank = sse ? 'safe' : meant === undefined ? 'possible' : 'preferred';
  return (meant === undefined ? transports : [meant]).flatMap((value) =>
    fix(`Change to 'transport: ${value}'`, edits.replaceValue(nodes, entry.keySpan.start, value), rank),
  );
}

export function keyNotForTransport(nodes: EditNodes, { level, entry, map }: KeySymbol): QuickFix[] {
  const belongsTo = level === 'server' ? transportOfKey.get(entry.key) : undefined;
  if (belongsTo === undefined || textOf(map.entries.get('transport')?.value) === belongsTo) return [];
  return fix(`Remove '${entry.key}'`, edits.removeKey(nodes, entry.keySpan.start));
}

export function duplicateKey(nodes: EditNodes, at: number): QuickFix[] {
  const { map, pair } = nodes.pairAt(at) ?? {};
  // Headers are the same key in upper and lower case.
  const name = ({ key }: { readonly key: unknown }): string => asText(isScalar(key) ? key.value : key).toLowerCase();
  if (!map || !pair || map.items.filter((one) => name(one) === name(pair)).length < 2) return [];
  return fix('Remove this duplicate', edits.removeKey(nodes, at));
}

export function wrongType(nodes: EditNodes, { entry, doc }: KeySymbol): QuickFix[] {
  const { value, keySpan } = entry;
  if (value.kind !== 'scalar' || value.value === null) return [];
  const written = nodes.text.slice(value.span.start, value.span.end);
  if (doc?.value.kind === 'truth') {
    const said = /^(true|yes|on)$/i.test(String(value.value))
      ? 'true'
      : /^(false|no|off)$/i.test(String(value.value))
        ? 'false'
        : undefined;
    return said === undefined
      ? []
      : fix(`Change to '${said}'`, edits.replaceValue(nodes, keySpan.start, said, 'raw'), 'safe');
  }
  const takesList = doc?.value.kind === 'texts' || doc?.value.kind === 'arguments';
  if (takesList && !/[\r\n]/.test(written) && !/^[|>&*!]/.test(written)) {
    const list = `[${edits.scalarText(String(value.value))}]`;
    const made = edits.replaceValue(nodes, keySpan.start, list, 'raw');
    return fix(`Change to the list '[${written}]'`, made, 'preferred');
  }
  return [];
}

export function duration(nodes: EditNodes, { entry }: KeySymbol): QuickFix[] {
  const written = entry.value.kind === 'scalar' ? String(entry.value.value).trim() : '';
  const [, amount, unit] = /^(\d{1,4}) ?(h|hours?|min|minutes?|sec|seconds?)?$/i.exec(written) ?? [];
  if (amount === undefined || amount === '0') return [];
  const letter = unit?.charAt(0).toLowerCase();
  const options =
    letter === 'h'
      ? [`${Number(amount) * 60}m`]
      : letter === undefined
        ? [`${amount}s`, `${amount}ms`]
        : [`${amount}${letter}`];
  const rank = options.length === 1 ? 'preferred' : 'possible';
  return options.flatMap((value) =>
    fix(`Change to '${value}'`, edits.replaceValue(nodes, entry.keySpan.start, value, 'raw'), rank),
  );
}

/** Moves words behind the program into the arguments. Shared keys get no fix: other servers may have other partners. */
export function argumentsOfCommand(nodes: EditNodes, { entry, map: whole }: KeySymbol): QuickFix[] {
  const at = entry.keySpan.start;
  const [program, ...more] = (entry.value.kind === 'scalar' && commandWords(String(entry.value.value))) || [];
  const { map, pair } = nodes.pairAt(at) ?? {};
  if (program === undefined || more.length === 0 || !map || !pair) return [];
  const command = edits.replaceValue(nodes, at, program);
  const words = more.map((word) => edits.scalarText(word, "'"));
  const written = nodes.pairOf(map, 'args');
  const isShared = [pair.value, written?.pair.value].some((node) => isAlias(node) || isAnchored(node));
  if (isShared || (!written && whole.entries.has('args'))) return [];
  const moved = written
    ? edits.prependItems(nodes, written, words)
    : edits.insertAfter(nodes, at, 'args', `[${words.join(', ')}]`);
  return fix("Move the arguments to 'args'", command && moved && joined(command, moved), 'safe');
}

function joined([first, ...more]: readonly edits.TextEdit[], others: readonly edits.TextEdit[]): edits.TextEdit[] {
  const next = others.find(({ span }) => span.start === first?.span.end);
  if (!first || !next) return [...(first ? [first] : []), ...more, ...others];
  const whole = { span: { start: first.span.start, end: next.span.end }, text: first.text + next.text };
  return [whole, ...more, ...others.filter((edit) => edit !== next)];
}

export function url(nodes: EditNodes, { entry }: KeySymbol): QuickFix[] {
  const written = entry.value.kind === 'scalar' ? String(entry.value.value).trim() : '';
  if (!/^(?:localhost|\d+(?:\.\d+){3}|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/\S*)?$/i.test(written)) return [];
  const address = `${/^(?:localhost|127\.)/i.test(written) ? 'http' : 'https'}://${written}`;
  return fix(`Change to '${address}'`, edits.replaceValue(nodes, entry.keySpan.start, address), 'preferred');
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
