/**
 * Closes a switch over a union: a kind that is added later fails to compile here. It throws if one gets here at run
 * time.
 */
export function assertNever(value: never): never {
  throw new Error(`Unexpected variant: ${JSON.stringify(value)}`);
}
