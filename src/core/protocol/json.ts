/**
 * Reads foreign JSON within bounds (S2). Recursion over a value from `parseFlattened` is safe, and its memory is in
 * proportion to its text. Everything here is pure.
 */

/** Readers refuse more deeply nested values. */
export const deepestValue = 256;
/** An empty list takes some twenty times the memory of its text. */
export const mostContainers = 2_000_000;

/** Throws a `SyntaxError` for invalid JSON, and for too many lists and objects. */
export function parseJson(text: string): unknown {
  if (text.length > 2 * mostContainers && holdsMore(text, mostContainers, Infinity)) {
    throw tooManyContainers();
  }
  return JSON.parse(text);
}

export function tooManyContainers(): SyntaxError {
  return new SyntaxError(`It has more than ${mostContainers} lists and objects.`);
}

/**
 * Reads our own stored text after possible changes by others. Returns undefined if `parseJson` refuses it or it is too
 * deep.
 */
export function storedJson(text: string): unknown {
  try {
    const value = parseJson(text);
    return nestsTooDeep(text) ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * Reads a value with separate parts for others. Parts below twice the accepted depth are cut off. So a part of too
 * great a depth costs only itself, and its reader still sees the depth. Throws as `parseJson` does.
 */
export function parseFlattened(text: string): unknown {
  const value = parseJson(text);
  if (nestsDeeper(text, 2 * deepestValue) && isContainer(value)) cutBelow(value, 2 * deepestValue);
  return value;
}

/** True if valid JSON is nested too deep. Its value may be less deep only if an object has a key twice. */
export function nestsTooDeep(text: string): boolean {
  return nestsDeeper(text, deepestValue);
}

/** Reads the text, because a walk through the value takes as long as parsing it. */
function nestsDeeper(text: string, limit: number): boolean {
  // Each level has two brackets.
  return text.length > 2 * limit && holdsMore(text, Infinity, limit);
}

/** True if a text has more lists and objects than `mostInAll`, or is nested deeper than `deepest`. */
function holdsMore(text: string, mostInAll: number, deepest: number): boolean {
  let [inAll, depth] = [0, 0];
  for (let at = 0; at < text.length && inAll <= mostInAll && depth <= deepest; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) at = endOfString(text, at);
    else if (unit === 0x5b || unit === 0x7b) {
      inAll++;
      depth++;
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return inAll > mostInAll || depth > deepest;
}

/** Returns the index of the closing quotation mark, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

export type Container = unknown[] | Record<string, unknown>;

/** Values known not to be too deep, so nobody has to walk through large ones. */
const shallow = new WeakSet<object>();

export function knowShallow(value: object): void {
  shallow.add(value);
}

export function isTooDeep(value: unknown): boolean {
  if (isContainer(value) && shallow.has(value)) return false;
  return isContainer(value) && someInner(value, (inner) => reaches(inner, deepestValue - 1));
}

/** True if a container is nested to this depth. Recurses no deeper. */
function reaches(container: Container, depth: number): boolean {
  return depth === 0 || someInner(container, (inner) => reaches(inner, depth - 1));
}

/** Empties containers with others in them at this depth. Recurses no deeper. */
export function cutBelow(container: Container, depth: number): void {
  const isCut = someInner(container, (inner) => {
    if (depth === 1) return true;
    cutBelow(inner, depth - 1);
    return false;
  });
  if (!isCut) return;
  if (Array.isArray(container)) container.length = 0;
  else for (const key of Object.keys(container)) delete container[key];
}

/** Makes no list of the members, because every result passes here (P3). */
function someInner(container: Container, test: (inner: Container) => boolean): boolean {
  if (Array.isArray(container)) return container.some((inner) => isContainer(inner) && test(inner));
  for (const key in container) {
    const inner = container[key];
    if (isContainer(inner) && test(inner)) return true;
  }
  return false;
}

export function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}
