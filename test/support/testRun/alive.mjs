/**
 * Describes what keeps this process alive, one line each: timers, processes, sockets, listeners.
 */

export function whatIsAlive() {
  const lines = [];
  const kinds = new Map();
  for (const kind of process.getActiveResourcesInfo()) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  for (const [kind, count] of kinds) lines.push(`${count} × ${kind}`);
  // Undocumented, but nothing else names the handles.
  for (const handle of process._getActiveHandles?.() ?? []) {
    const line = described(handle);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

function described(handle) {
  try {
    if (Array.isArray(handle.spawnargs))
      return `process ${handle.pid}: ${handle.spawnargs.join(' ').slice(0, 300)}`;
    if (typeof handle.address !== 'function') return undefined;
    if (handle.listening) return `listens at ${JSON.stringify(handle.address())}`;
    if (handle.remotePort)
      return `socket from ${handle.localPort} to ${handle.remoteAddress}:${handle.remotePort}`;
  } catch {
    // A handle that is ending.
  }
  return undefined;
}
