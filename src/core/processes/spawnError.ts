/** Makes what `spawn` would throw where a command is looked for here. */
export function spawnError(code: string, command: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`spawn ${command} ${code}`), { code });
}
