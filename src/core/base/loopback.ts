/**
 * Says whether a host name is this machine's own, so that what is sent there does not leave it and need not be
 * encrypted.
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname);
}
