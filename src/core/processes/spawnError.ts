/** Makes the error `spawn` would throw, for commands searched here. */
export function spawnError(code: string, command: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`spawn ${command} ${code}`), { code });
}
