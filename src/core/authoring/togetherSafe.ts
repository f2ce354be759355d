/** Chooses safe fixes for one step. Each may be safe, but two of them may have the same result. */
import { parseMindsFile } from '../config/read/parse.js';
import type { ConfigDeps, ParsedSource } from '../config/model.js';
import { applyEdits, withoutOverlaps, type TextEdit } from '../yaml/edits.js';
import type { ValueNode } from '../yaml/valueNodes.js';
import { readYaml } from '../yaml/yamlTree.js';

type Fix = readonly TextEdit[];

/** The limit of tried texts. Untried fixes are left out. */
const mostTried = 24;

/** Returns the edits of compatible fixes. @param variables the names of the set variables */
export function togetherSafe(text: string, fixes: readonly Fix[], variables: readonly string[]): Fix {
  // A mistake shared by several servers has a fix for each.
  const different = [...new Map(fixes.map((fix) => [JSON.stringify(fix), fix])).values()];
  if (different.length === 0) return [];
  const deps: ConfigDeps = {
    env: Object.fromEntries(variables.map((name) => [name, ''])),
    directoryExists: () => true,
    secret: () => '',
  };
  const before = outcomeOf(text, deps);
  let left = mostTried;
  const works = (edits: Fix): boolean => {
    if (withoutOverlaps(edits).length < edits.length || left-- <= 0) return false;
    return breaksNothing(before, outcomeOf(applyEdits(text, edits), deps));
  };
  let kept: Fix = [];
  const waiting: (readonly Fix[])[] = [different];
  for (let part = waiting.pop(); part; part = waiting.pop()) {
    const tried = [...kept, ...part.flat()];
    if (works(tried)) kept = tried;
    else if (part.length > 1) waiting.push(part.slice(part.length >> 1), part.slice(0, part.length >> 1));
  }
  return kept;
}

interface Outcome {
  readonly parsed: ParsedSource;
  readonly duplicates: number;
}

function outcomeOf(text: string, deps: ConfigDeps): Outcome {
  const parsed = parseMindsFile({ file: '', folder: '/', text }, deps);
  return { parsed, duplicates: duplicatesIn(readYaml(text).root) };
}

function breaksNothing(before: Outcome, after: Outcome): boolean {
  if (after.duplicates > before.duplicates) return false;
  if (before.parsed.kind === 'refused') return true;
  const valid = validIn(after.parsed);
  return after.parsed.kind === 'accepted' && [...validIn(before.parsed)].every((id) => valid.has(id));
}

function validIn(parsed: ParsedSource): Set<string> {
  const servers = parsed.kind === 'accepted' ? parsed.servers : [];
  return new Set(servers.flatMap(({ kind, id }) => (kind === 'valid' ? [id] : [])));
}

/** The number of duplicate keys. */
function duplicatesIn(root: ValueNode): number {
  const seen = new Set<ValueNode>();
  const found = new Set<unknown>();
  const look = (node: ValueNode): void => {
    if (node.kind === 'scalar' || seen.has(node)) return;
    seen.add(node);
    if (node.kind === 'list') node.items.forEach(look);
    else {
      for (const duplicate of node.duplicates) found.add(duplicate);
      for (const { value } of node.entries.values()) look(value);
    }
  };
  look(root);
  return found.size;
}
