/**
 * Which values of other programs' files are secrets that must not be written into `.minds/mcp.yaml` (C6, E4): told by
 * the name of the key and by the shape of the value. In doubt it is one: a variable that was not needed costs a person a
 * minute, a secret in a repository much more.
 */

/** What stands in the place of a secret where no reference to a variable can. */
const removedSecret = 'SECRET_REMOVED';

const secretWords =
  /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD|PAT|KEY|APIKEY|CREDENTIALS?|AUTH|AUTHORIZATION|BEARER|COOKIE|DSN|JWT)(?:_|$)/;
const harmlessEnds = /_(?:FILE|PATH|DIR|URL|URI|ENDPOINT|NAME|ID|TYPE|HEADER|METHOD|ENABLED|TTL|TIMEOUT|EXPIRY)$/;

/** Beginnings by which services mark their tokens. */
const tokenShapes = [
  /^gh[opsur]_\w/,
  /^github_pat_/,
  /^glpat-/,
  /^sk[-_][\w-]{6,}/,
  /^(?:pk|rk)_(?:live|test)_/,
  /^xox[abeprs]-/,
  /^xapp-/,
  /^AKIA[0-9A-Z]{12,}/,
  /^AIza[\w-]{20,}/,
  /^ya29\./,
  /^eyJ[\w-]{8,}\./,
  /^npm_\w{8,}/,
  /^hf_\w{8,}/,
  /^(?:ntn|secret|lin_api|figd|gsk|pplx|tvly|dop_v1|phc|phx|r8|shpat)[-_]\w{8,}/,
  /^BSA[\w-]{20,}/,
  /^(?:Bearer|Basic|Token)\s+\S/i,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];

function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase();
  return secretWords.test(words) && !harmlessEnds.test(words);
}

function hasSecretShape(value: string): boolean {
  return tokenShapes.some((shape) => shape.test(value)) || isRandom(value) || withoutUrlSecrets(value) !== undefined;
}

/** Whether the value of a key of this name is to be kept out of files. */
export function isSecret(name: string, value: string): boolean {
  if (value.trim() === '' || /^(?:true|false|yes|no|on|off|none|null|\d{1,5})$/i.test(value)) return false;
  return isSecretName(name) || hasSecretShape(value);
}

/** Long, of one word, letters and digits mixed as nobody writes them. */
function isRandom(value: string): boolean {
  if (!/^[A-Za-z0-9+/_=-]{32,}$/.test(value) || /^[/.]/.test(value)) return false;
  const digits = value.replace(/\D/g, '').length;
  return digits >= 4 && /[A-Za-z]/.test(value) && !/[a-z]{9}/.test(value);
}

/** The text with secrets of URLs in it taken out; undefined where there are none. */
export function withoutUrlSecrets(text: string): string | undefined {
  const clean = text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@?#]*:)([^\s/@]+)(?=@)/gi, `$1${removedSecret}`)
    .replace(/([?&#])([\w.-]+)=([^&#\s]+)/g, (whole, mark: string, name: string, value: string) =>
      value.includes('${') || !isSecret(name, value) ? whole : `${mark}${name}=${removedSecret}`,
    );
  return clean === text ? undefined : clean;
}

/** Arguments with secrets taken out, and which of them held one (counted from 0). */
export function withoutArgumentSecrets(args: readonly string[]): { args: string[]; held: number[] } {
  const held: number[] = [];
  const clean = args.map((arg, index) => {
    const found = cleanArgument(arg, args[index - 1]);
    if (found !== undefined) held.push(index);
    return found ?? arg;
  });
  return { args: clean, held };
}

function cleanArgument(arg: string, before: string | undefined): string | undefined {
  const url = withoutUrlSecrets(arg);
  if (url !== undefined) return url;
  if (arg.includes('${')) return undefined;
  const [, head, value] = /^([^=:\s]+(?:=|:\s*))(.+)$/s.exec(arg) ?? [];
  // An option or a variable with its value, a header.
  if (head !== undefined && value !== undefined && !value.startsWith('//') && isSecret(head.replace(/\W+$/, ''), value))
    return head + removedSecret;
  if (arg.startsWith('-')) return undefined;
  if (hasSecretShape(arg)) return removedSecret;
  return before !== undefined && /^--?[a-z]/i.test(before) && !before.includes('=') && isSecret(before, arg)
    ? removedSecret
    : undefined;
}
