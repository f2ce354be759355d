/** A program's side: answers the bench's requests, and ends when the bench is gone. */

export interface Question {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };

export type Methods = Readonly<Record<string, (params: never) => unknown>>;

/** `end`, if there is one, is called last. */
export function serve(methods: Methods): void {
  process.on('message', (message) => void answer(message as Question));
  process.on('disconnect', () => process.exit(0));

  async function answer({ id, method, params }: Question): Promise<void> {
    try {
      const run = methods[method];
      if (!run && method !== 'end') throw new Error(`There is no method ${method}.`);
      reply({ id, value: await run?.(params as never) });
    } catch (error) {
      reply({ id, error: String((error as Error).stack ?? error) });
    }
  }
}

function reply(answer: Answer): void {
  if (process.connected) process.send?.(answer, undefined, undefined, () => {});
}

/** Milliseconds of the machine's own clock, common to all processes. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
