/**
 * In doubt it is a secret: a visible one costs more than a masked harmless value. No pattern
 * repeats a repetition.
 */
const longestName = 96;

const secretWords = new Set(
  (
    'TOKEN SECRET PASSWORD PASSWD PASSPHRASE PASSCODE PASS PWD PW PAT KEY APIKEY CREDENTIAL CRED AUTH AUTHORIZATION ' +
    'BEARER COOKIE DSN JWT SIG SIGNATURE SESSION SESSIONID WEBHOOK CONNECTIONSTRING OTP'
  ).split(' '),
);

/** Words at the end of a compound name: `PGPASSWORD`, `OPENAIKEY`. */
const secretEnds = 'TOKEN SECRET PASSWORD PASSWD PASSPHRASE PASS PWD KEY COOKIE CREDENTIAL'.split(
  ' ',
);
const harmlessWords = new Set(
  'ASKPASS MONKEY TURKEY DONKEY WHISKEY HOCKEY JOCKEY HOTKEY BYPASS COMPASS ENCOMPASS TRESPASS SURPASS PUBLICKEY'.split(
    ' ',
  ),
);

/** MCP has progress tokens. They say only which call progress belongs to. */
const harmlessPairs = new Set(['PUBLIC KEY', 'PROGRESS TOKEN']);

/**
 * Of harmless names (`TOKEN_FILE`), or of a source (`PASSWORD_COMMAND`), which a person has to see
 * (S1e).
 */
const harmlessEnds = new Set(
  (
    'FILE PATH DIR URL URI ENDPOINT NAME ID TYPE HEADER METHOD METHODS ENABLED TTL TIMEOUT EXPIRY EXPIRES IN AT SERVER ' +
    'SERVERS SUPPORTED REQUIRED HOST PORT USER USERNAME PROVIDER MODE STATUS COUNT LIMIT LENGTH SIZE LENGTHS HINT ' +
    'ALGORITHM ALG FORMAT SCOPE SCOPES VERSION DESCRIPTION DOCUMENTATION ' +
    'COMMAND COMMANDS CMD HELPER HELPERS PROGRAM PROCESS SCRIPT EXEC EXECUTABLE BINARY PLUGIN PLUGINS MODULE MODULES ' +
    'LIBRARY CLASS BACKEND BACKENDS ENGINE ERROR ERRORS EXCEPTION'
  ).split(' '),
);

/** Names of URL parameters. Elsewhere they are too short or too common. */
const secretParameters = new Set(['CODE', 'SIG', 'ASSERTION', 'HMAC', 'NONCE']);

/** Every value behind these is a secret, even a plain word. */
const certainNames = /passw|passphrase|pwd$|authorization|cookie|^x-/i;

/** This rules most names out at little cost. */
const possible = /tok|key|sec|pass|pw|pat|cred|auth|bear|cook|dsn|jwt|sig|sess|hook|conn|otp/i;

const weakWords = new Set(['KEY', 'SESSION', 'SIG', 'PAT', 'AUTH']);
/** These also name other things: a sort key, a module for `--auth`. */
const ambiguousWords = /^(?:KEY|SESSION|SESSIONID|SIG|SIGNATURE|PAT|AUTH)S?$/;
const clearKeys = new Set('API ACCESS SECRET PRIVATE SIGNING ENCRYPTION'.split(' '));

/**
 * `weak` needs more than a plain word, `word` may precede a colon in prose, and `certain` makes any
 * value a secret.
 */
export type NameStrength = 'none' | 'weak' | 'word' | 'strong' | 'certain';

export function nameStrength(name: string, parameter = false): NameStrength {
  const text = name.length > longestName ? name.slice(-longestName) : name;
  if (parameter && secretParameters.has(text.toUpperCase())) return 'strong';
  if (!possible.test(text)) return 'none';
  const words = wordsOf(text);
  const last = words.at(-1) ?? '';
  const at = words.findIndex(isSecretWord);
  if (at < 0) return 'none';
  if (harmlessPairs.has(`${words[at - 1]} ${words[at]}`)) return 'none';
  const belongs = last === 'ID' && words.at(-2) === 'SESSION';
  if (harmlessEnds.has(last) && !belongs && !words.includes('WEBHOOK')) return 'none';
  if (certainNames.test(text)) return 'certain';
  if (words.length > 1 || !secretWords.has(singular(last))) return 'strong';
  return weakWords.has(singular(last)) ? 'weak' : 'word';
}

/**
 * True for a secret in the environment. Systems name folders and sessions of the desktop like one:
 * `PWD`, `DESKTOP_SESSION`.
 */
export function isSecretVariable(name: string, value: string): boolean {
  return nameStrength(name.replace(/SESSION/i, '')) !== 'none' && !/^([/\\]|[a-z]:)/i.test(value);
}

/** True if some word of the name can only mean a secret, as in `API_KEY`, and not in `KEY`. */
export function isClearlySecret(name: string): boolean {
  return wordsOf(name).some((word, at, words) =>
    ambiguousWords.test(word)
      ? singular(word) === 'KEY' && clearKeys.has(words[at - 1] ?? '')
      : isSecretWord(word),
  );
}

/** Returns the words of a name in capitals: of `--apiKey2` these are `API` and `KEY`. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/ask[_-]?pass(?![a-z])/gi, 'askpass')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]/)
    .map((word) => word.replace(/\d{1,96}$/, ''))
    .filter((word) => word !== '');
}

function isSecretWord(word: string): boolean {
  const one = singular(word);
  if (secretWords.has(word) || secretWords.has(one)) return true;
  return (
    !harmlessWords.has(one) && secretEnds.some((end) => one.endsWith(end) || word.endsWith(end))
  );
}

function singular(word: string): string {
  return word.endsWith('S') && !word.endsWith('SS') ? word.slice(0, -1) : word;
}

export function isPlural(name: string): boolean {
  return /[^sS][sS]$/.test(name);
}

/** True for public and empty values. `max_tokens` counts. */
export function isTrivial(value: string, name = ''): boolean {
  if (value.length > longestName) return false;
  if (/tokens$/i.test(name) && /^\d{1,9}$/.test(value)) return true;
  return /^\s*$|^(?:true|false|yes|no|on|off|none|null|undefined|\d{1,5})$|^[•*.…]{1,96}$|^x{3,96}$|^\$\{\w{1,90}\}$|^\$\w{1,90}$|^<[^<>]{0,90}>$|^SECRET_REMOVED$/i.test(
    value,
  );
}

/** Options with `user:password` behind them. */
export const userOption = /^(?:-u|-U|--user|--proxy-user)$/;

const reasonWords =
  /\b(?:required?|missing|invalid|expected|expired|unset|undefined|empty|must be|unauthori[sz]ed|unknown|(?:not|isn't) (?:set|provided|found|given|defined|configured|valid))\b/i;
const readsVariable =
  /^(?:os\.(?:environ|getenv)|process\.env|import\.meta\.env|(?:Deno|Bun)\.env|ENV\[|System\.getenv|getenv\(|std::env)/;

/**
 * Messages about missing secrets have the name of a variable, code that reads one, or a reason in
 * place of the value.
 */
export function isNoValue(text: string): boolean {
  if (text.length > 200) return false;
  // `GITHUB_TOKEN`
  if (/^[A-Z]{1,40}\d{0,2}(?:_[A-Z]{1,40}\d{0,2}){1,10}[.,;:!?)]{0,2}$/.test(text)) return true;
  // `process.env.TOKEN`
  if (readsVariable.test(text)) return true;
  // `is not set (required)`
  return /^[A-Za-z][A-Za-z ,.:'()-]{0,200}$/.test(text) && reasonWords.test(text);
}

export const tokenBeginnings =
  'gh[opsur]_|github_pat_|glpat-|sk[-_]|[pr]k_(?:live|test)_|xox[abeprs]-|xapp-|AKIA|ASIA|AIza|ya29\\.|eyJ|npm_|hf_|' +
  'ntn_|lin_api_|figd_|gsk_|pplx-|tvly-|dop_v1_|ph[cx]_|r8_|shpat_|BSA|secret_';

const certainBeginnings = /^(?:gh[opsur]_|github_pat_|glpat-|xox|xapp-)/;

export function isToken(word: string): boolean {
  const head = word.slice(0, 200);
  if (certainBeginnings.test(head)) return word.length >= 8;
  if (head.startsWith('eyJ')) return word.length >= 16;
  return word.length >= 10 && /\d/.test(head);
}

/** True if letters and digits are mixed like in no written word. */
export function isRandom(word: string): boolean {
  if (word.length < 16) return false;
  // A key of many lines; no file and no sentence is so long: `MIIEvQIBADANBg…`.
  if (word.length > 4096) return !/[^A-Za-z0-9+/_=-]/.test(word);
  // A sentence, an address or an expression.
  if (!/^[A-Za-z0-9+/_=.~-]+$/.test(word)) return false;
  // A path: `/usr/lib/x86_64`, `./build/2024`.
  if (/^[/.]/.test(word)) return false;
  if (!/\d/.test(word)) return false;
  if (isLongKey(word)) return /[A-Za-z]/.test(word);
  return word.split(/[^A-Za-z0-9]/).some((part) => part.length >= 12 && isJumbled(part));
}

/** True for a hash or a key with some digits and no long word: `9f86d081884c7d65…`. */
function isLongKey(word: string): boolean {
  if (word.length < 32) return false;
  if (/[.~]|[a-z]{9}/.test(word)) return false;
  return word.replace(/\D/g, '').length >= 4;
}

/**
 * True if letters and digits, or capitals and small letters, alternate more often than in words.
 */
function isJumbled(part: string): boolean {
  if (!/\d/.test(part) || !/[A-Za-z]/.test(part)) return false;
  const runs = part.match(/\d+|[A-Z]+|[a-z]+/g) ?? [];
  return part.length / runs.length <= 2.7;
}
