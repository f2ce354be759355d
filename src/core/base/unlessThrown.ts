/** Returns what `look` returns, or undefined if it throws. */
export function unlessThrown<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
