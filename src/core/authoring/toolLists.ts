import { isDeepStrictEqual } from 'node:util';
import type { Place } from '../base/problem.js';
import { editsForMe } from '../config/edit/layerEdits.js';
import {
  othersChanged,
  ownLists,
  setToolFilter,
  toolFilterOf,
} from '../config/edit/serverEdits.js';
import type { NameFilter, SourceOrigin } from '../config/model.js';
import { compilePattern } from '../tools/patterns.js';
import { withPatterns, withTicks, type ReplacedPattern } from '../tools/ticks.js';
import { applyEdits, difference, type Edits } from '../yaml/edits.js';
import type { Span } from '../yaml/textPositions.js';
import { textOf } from '../yaml/valueNodes.js';
import { readYaml } from '../yaml/yamlTree.js';
import { symbolsOf } from './symbols.js';

/** The lists of a server after some ticks, and the patterns that names replaced since then. */
export interface TickedLists {
  readonly lists: NameFilter;
  readonly replaced: readonly ReplacedPattern[];
}

/**
 * Returns the shortest edits for agents to see exactly the ticked tools; see `withTicks`. If an
 * alias shares the lists, `edits` change the `others` too, and `own` leave them as they are. The
 * patterns `gone` became names.
 * @param last the lists after earlier ticks. They count if nothing else changed the lists since.
 */
export function tickTools(
  text: string,
  server: string,
  names: readonly string[],
  ticks: ReadonlyMap<string, boolean>,
  last?: TickedLists,
) {
  const before = toolFilterOf(text, server);
  if (!before) return undefined;
  const known = last && isDeepStrictEqual(last.lists, before) ? last.replaced : [];
  const lists = withPatterns(withTicks(before, names, ticks), names, known);
  const edits = setToolFilter(text, server, lists) ?? setToolFilter(text, server, lists, true);
  const others = edits && othersChanged(text, server, edits);
  if (!others) return undefined;
  const isGone = (pattern: string): boolean => !lists.whitelist.includes(pattern);
  const gone = before.whitelist.filter((one) => one.includes('*') && isGone(one));
  const replaced = [
    ...known.filter(({ pattern }) => isGone(pattern)),
    ...gone.map((pattern) => ({
      pattern,
      before,
    })),
  ];
  const own = others.length > 0 ? inOwnLists(text, server, lists, others) : undefined;
  const count = lists.whitelist.length - before.whitelist.length + gone.length;
  return {
    edits,
    others,
    own,
    gone,
    count,
    after: {
      lists,
      replaced,
    },
  };
}

/** A server, and the places of its parts in the file and in the layer over it. */
interface PlacedServer {
  readonly origin: SourceOrigin;
  readonly place: Place;
  readonly local: readonly string[];
  readonly localPlace: Place | undefined;
}

/**
 * Returns the file in which a server changes, and the file below it if it is a layer (C7). One file
 * has the whole entry of an own server, and a server of the user's file changes there.
 */
export function changedFileOf(
  { origin, place, localPlace }: PlacedServer,
  isForMe: boolean,
  localFileOf: (file: string) => string,
): { readonly file: string; readonly below?: string } {
  const isOnly = localPlace ? localPlace.file === place.file : origin === 'user';
  if (isOnly || !(isForMe || origin === 'local')) return { file: place.file };
  return { file: localPlace?.file ?? localFileOf(place.file), below: place.file };
}

/** True if the layer has lists of tools, which count instead of those of another file. */
export function hasListsAbove({ local, localPlace }: PlacedServer, file: string): boolean {
  return file !== localPlace?.file && local.some((key) => key.startsWith('tools.'));
}

/**
 * Returns the text after a server keeps out tools; no other server changes. @param below the text
 * under a layer
 */
export function withoutTools(
  text: string,
  { id, listed }: { readonly id: string; readonly listed: readonly string[] },
  names: readonly string[],
  below: string | undefined,
): string | undefined {
  const ticks = new Map(names.map((name) => [name, false]));
  const made = (now: string): Edits => {
    const plan = tickTools(now, id, listed, ticks);
    return plan && plan.others.length > 0 ? plan.own : plan?.edits;
  };
  const edits =
    below === undefined ? made(text) : editsForMe({ shared: below, local: text }, id, made);
  return edits && applyEdits(text, edits);
}

/** If the lists have the anchor, the other servers get copies of the present lists instead. */
function inOwnLists(
  text: string,
  server: string,
  lists: NameFilter,
  others: readonly string[],
): Edits {
  for (const ids of [[server], others]) {
    let now = text;
    for (const id of ids) now = applyEdits(now, ownLists(now, id) ?? []);
    const made = setToolFilter(now, server, lists);
    const all = made && difference(text, applyEdits(now, made));
    if (all && othersChanged(text, server, all)?.length === 0) return all;
  }
  return undefined;
}

/** Returns the span of the deciding item, or of the whitelist if the tool is not in it. */
export function decidingPattern(text: string, server: string, tool: string): Span | undefined {
  const ofTools = symbolsOf(readYaml(text).root).filter((symbol) => symbol.server === server);
  const patterns = ofTools.flatMap((one) =>
    one.kind === 'pattern' && one.of === 'tools' ? [one] : [],
  );
  const whitelist = patterns.filter(({ list }) => list === 'whitelist');
  const blacklist = patterns.filter(({ list }) => list === 'blacklist');
  const found = [...whitelist, ...blacklist].find(({ node }) =>
    compilePattern(textOf(node) ?? '').matches(tool),
  );
  if (found || whitelist.length === 0 || blacklist.length > 0) return found?.span;
  return ofTools.find(
    (one) => one.kind === 'key' && one.level === 'tools' && one.entry.key === 'whitelist',
  )?.span;
}
