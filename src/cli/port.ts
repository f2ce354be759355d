/** The port that other agents find the toolsets on. */
const usualPort = 7427;

/** Undefined: the text is no port. */
export function readPort(text: string | undefined): number | undefined {
  const port = text === undefined ? usualPort : /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  return port >= 0 && port < 65_536 ? port : undefined;
}
