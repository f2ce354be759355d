/** Closes a switch over a union: a kind added later fails to compile here. Throws if one gets through at run time. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected variant: ${JSON.stringify(value)}`);
}
