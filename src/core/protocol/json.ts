/**
 * Reads JSON that comes from outside, within bounds (S2): a value that `parseFlattened` has let through may be walked by
 * recursion and takes memory in proportion to its text. Everything here is pure.
 */

/** What is nested deeper is refused by whoever reads it. */
export const deepestValue = 256;
/** Empty lists take some twenty times the memory of their text. */
export const mostContainers = 2_000_000;

/** Throws a `SyntaxError` for what is not JSON, and for more lists and objects than anyone has use for. */
export function parseJson(text: string): unknown {
  if (text.length > 2 * mostContainers && holdsMore(text, mostContainers, Infinity)) {
    throw tooManyContainers();
  }
  return JSON.parse(text);
}

export function tooManyContainers(): SyntaxError {
  return new SyntaxError(`It has more than ${mostContainers} lists and objects.`);
}

/** Reads what we have stored and anybody may have changed. Returns undefined for what `parseJson` refuses and what is too deep. */
export function storedJson(text: string): unknown {
  try {
    const value = parseJson(text);
    return nestsTooDeep(text) ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * Reads what is passed on in parts. Where it is nested to twice the depth that anybody accepts, it is cut off: so one part of
 * an answer that is too deep costs that part only, and whoever reads that part still sees that it is too deep. Throws as
 * `parseJson` does.
 */
export function parseFlattened(text: string): unknown {
  const value = parseJson(text);
  if (nestsDeeper(text, 2 * deepestValue) && isContainer(value)) cutBelow(value, 2 * deepestValue);
  return value;
}

/** Whether a text that parses is nested too deep; its value may be less deep only where a key stands in an object twice. */
export function nestsTooDeep(text: string): boolean {
  return nestsDeeper(text, deepestValue);
}

/** Told by the text, because to walk a value takes as long as to parse it. */
function nestsDeeper(text: string, limit: number): boolean {
  // Each level has two brackets.
  return text.length > 2 * limit && holdsMore(text, Infinity, limit);
}

/** Whether a text has more lists and objects than that, or more of them in one another. */
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

/** Returns the place of the closing quotation mark, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

export type Container = unknown[] | Record<string, unknown>;

/** Of these it is known that they are not too deep, so that what is large need not be walked through. */
const shallow = new WeakSet<object>();

export function knowShallow(value: object): void {
  shallow.add(value);
}

export function isTooDeep(value: unknown): boolean {
  if (isContainer(value) && shallow.has(value)) return false;
  return isContainer(value) && someInner(value, (inner) => reaches(inner, deepestValue - 1));
}

/** Says whether a container has others in it to this depth. Recurses no deeper than that. */
function reaches(container: Container, depth: number): boolean {
  return depth === 0 || someInner(container, (inner) => reaches(inner, depth - 1));
}

/** Empties what has others in it at this depth. Recurses no deeper than that. */
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

/** Makes no list of what is in the container: every result passes here (P3). */
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
