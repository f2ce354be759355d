/**
 * A limit for what a test waits for, so that a failure says what did not come; far longer than anything takes. The
 * variable is for systems on which all takes several times as long.
 */
export const patience = Number(process.env['MCP_TOOLSETS_TEST_PATIENCE'] ?? 1);
const patienceMs = 30_000 * patience;

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
