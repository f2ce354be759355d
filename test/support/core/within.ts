/** A limit for what a test waits for, so that a failure says what did not come; far longer than anything takes. */
export const patienceMs = 30_000;

export async function within<T>(
  promise: Promise<T>,
  what: string,
  describe: () => string = () => '',
  limitMs = patienceMs,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Did not come: ${what}\n${describe()}`)), limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
