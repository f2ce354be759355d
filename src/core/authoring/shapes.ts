/** Finds the format at a path of a sketched file. Anchors are followed to their uses. */
import { docOf, type KeyDoc, type ValueShape } from '../config/keys.js';
import type { Sketch, SketchPath } from '../yaml/sketch.js';

export interface KnownPlace {
  readonly shape: ValueShape;
  readonly server: string | undefined;
  /** The enclosing one of `tools`, `prompts` and `resources`, or else `tools`. */
  readonly selection: string;
  readonly doc: KeyDoc | undefined;
}

/** The depth of anchors within anchors. */
const mostHops = 4;
/** The number of followed aliases in all, because the ways multiply with each hop. */
const mostFollowed = 1_000;

export function placeAt(read: Sketch, path: SketchPath): KnownPlace | undefined {
  const uses = new Map<string, SketchPath[]>();
  for (const { name, path: use } of read.aliases) {
    const known = uses.get(name);
    if (known) known.push(use);
    else uses.set(name, [use]);
  }
  let left = mostFollowed;
  const find = (from: SketchPath, hops: number): KnownPlace | undefined => {
    const direct = walk(from);
    if (direct || hops >= mostHops) return direct;
    for (const [name, anchored] of read.anchors) {
      if (!begins(from, anchored)) continue;
      const rest = from.slice(anchored.length);
      for (const use of uses.get(name) ?? []) {
        if (left-- <= 0) return undefined;
        const merge = use.lastIndexOf('<<');
        const at = merge >= 0 && merge >= use.length - 2 ? use.slice(0, merge) : use;
        const found = find([...at, ...rest], hops + 1);
        if (found) return found;
      }
    }
    return undefined;
  };
  return find(path, 0);
}

function begins(path: SketchPath, beginning: SketchPath): boolean {
  return beginning.every((step, index) => step === path[index]);
}

function walk(path: SketchPath): KnownPlace | undefined {
  let shape: ValueShape = { kind: 'table', level: 'root' };
  let server: string | undefined;
  let selection = 'tools';
  let doc: KeyDoc | undefined;
  for (const step of path) {
    doc = shape.level && typeof step === 'string' ? docOf(shape.level, step) : undefined;
    const next: ValueShape | undefined = doc?.value ?? (typeof step === 'string' ? shape.each : shape.item);
    if (!next) return undefined;
    if (shape.kind === 'servers') server = String(step);
    if (shape.level === 'server' && (step === 'prompts' || step === 'resources')) selection = step;
    shape = next;
  }
  return { shape, server, selection, doc };
}

export function textOf(read: Sketch, path: SketchPath, key: string): string | undefined {
  let left = mostFollowed;
  const find = (from: SketchPath, hops: number): string | undefined => {
    const own = read.box(from)?.entries.find((entry) => entry.key === key);
    if (own || hops >= mostHops) return own?.text;
    for (const { name, path: use } of read.aliases) {
      if (use[from.length] !== '<<' || !begins(use, from)) continue;
      if (left-- <= 0) return undefined;
      const anchored = read.anchors.get(name);
      const found = anchored && find(anchored, hops + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return find(path, 0);
}
