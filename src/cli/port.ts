/** Reads the port on which other agents find the toolsets. */
const usualPort = 7427;

/** Returns undefined where the text is not a port. */
export function readPort(text: string | undefined): number | undefined {
  const port = text === undefined ? usualPort : /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  return port >= 0 && port < 65_536 ? port : undefined;
}
