export function closeWithLine(
  prepare: () => Promise<void>,
  file: string,
  args: string[],
  limits?: { silence: number; ending: number },
): Promise<number>;
