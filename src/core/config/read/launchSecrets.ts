/**
 * Finds the secrets of a launch, for logs, problems and status (E4), in every form that a server
 * may quote.
 */
import { isSecretName, secretsIn, secretsOfArguments } from '../../base/secrets.js';
import { decoded } from '../../base/text.js';
import { textsOf, valuesOf } from '../launchValues.js';
import type { Launch, Value } from '../model.js';

export function secretsOf(launch: Launch): string[] {
  const found = valuesOf(launch).flatMap(({ value, path: [place, name] }) => {
    // Most arguments and addresses are no secrets.
    const isShown = value.kind === 'literal' && (place === 'args' || place === 'url');
    if (isShown) return [];
    const parts = place === 'headers' ? partsOf(String(name), value.value) : [];
    return [...bare(value), ...parts];
  });
  if (launch.transport === 'stdio') {
    const ofFile = launch.envFile?.values.values() ?? [];
    const ofArguments = secretsOfArguments(textsOf(launch.args));
    const secrets = new Set([...found, ...ofFile, ...ofArguments]);
    return [...secrets];
  }
  const { url, sessionId } = launch;
  return [...found, sessionId, ...inPath(url), ...inAddress(url.value)];
}

/**
 * Returns the value with and without prefix and suffix, because servers often quote a refused token
 * without them.
 */
function bare(given: Value): string[] {
  if (given.kind === 'literal') return [given.value];
  const { value, prefix, suffix } = given;
  return [value, value.slice(prefix.length, value.length - suffix.length)];
}

/**
 * Returns the value as part of an address path, with blanks, quotation marks and the like
 * percent-encoded.
 */
function inPath(url: Value): string[] {
  if (url.kind === 'literal') return [];
  const { value, prefix, suffix } = url;
  if (!URL.canParse(value) || !URL.canParse(prefix) || /[?#]/.test(prefix)) return [];
  const before = new URL(prefix).pathname;
  const rest = new URL(value).pathname.slice(before.length);
  if (suffix === '' || !rest.endsWith(suffix)) return [rest];
  const bareRest = rest.slice(0, -suffix.length);
  return [bareRest];
}

/**
 * Returns the secret parts of `Bearer TOKEN`, of `Basic BASE64` (`name:password`), and of cookies
 * (`a=b; c=d`).
 */
function partsOf(header: string, value: string): string[] {
  if (header.toLowerCase() === 'cookie') {
    return value.split(/;\s*/).map((cookie) => cookie.slice(cookie.indexOf('=') + 1));
  }
  const [, scheme, credentials] = /^(\S+)\s+(\S+)$/.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) return [];
  if (!/^basic$/i.test(scheme)) return [credentials];
  const decoded = Buffer.from(credentials, 'base64').toString('utf8');
  const password = decoded.slice(decoded.indexOf(':') + 1);
  return [credentials, decoded, password];
}

function inAddress(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const url = new URL(address);
  const query = [...url.searchParams]
    .filter(([key]) => isSecretName(key))
    .map(([, value]) => value);
  const { password } = url;
  return [password, decoded(password), ...query, ...secretsIn(address)];
}
