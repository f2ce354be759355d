/** Finds the format at a path of a sketched file. */
import { docOf, type KeyDoc, type ValueShape } from '../config/keys.js';
import type { Sketch, SketchPath } from '../yaml/sketch.js';

export interface KnownPlace {
  readonly shape: ValueShape;
  readonly server: string | undefined;
  /** The enclosing one of `tools`, `prompts` and `resources`, or else `tools`. */
  readonly selection: string;
  readonly doc: KeyDoc | undefined;
}

/** Finds the format at a path, directly or through a use of an anchor around it. */
export function placeAt(read: Sketch, path: SketchPath): KnownPlace | undefined {
  const direct = walk(path);
  if (direct) return direct;
  for (const { name, path: use } of read.aliases) {
    const anchored = read.anchors.get(name);
    if (!anchored || !begins(path, anchored)) continue;
    const merge = use.lastIndexOf('<<');
    const at = merge >= 0 && merge >= use.length - 2 ? use.slice(0, merge) : use;
    const found = walk([...at, ...path.slice(anchored.length)]);
    if (found) return found;
  }
  return undefined;
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

/** Returns the text at a key of a map, also of a map that is merged into it. */
export function textOf(read: Sketch, path: SketchPath, key: string): string | undefined {
  const merged = read.aliases.flatMap(({ name, path: use }) => {
    const anchored = use[path.length] === '<<' && begins(use, path) ? read.anchors.get(name) : undefined;
    return anchored ? [anchored] : [];
  });
  const entries = [path, ...merged].flatMap((from) => read.box(from)?.entries ?? []);
  return entries.find((entry) => entry.key === key)?.text;
}
