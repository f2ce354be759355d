/** Closes a switch over a union: a later kind fails to compile here. It throws at run time. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected variant: ${JSON.stringify(value)}`);
}
