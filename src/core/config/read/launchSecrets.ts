/** Finds the secrets of a launch, for logs, problems and status (E4), in every form that a server may quote. */
import { isSecretName, secretsIn, secretsOfArguments } from '../../base/secrets.js';
import { decoded } from '../../base/text.js';
import type { EnvValue, Launch, Reference } from '../model.js';

export function secretsOf(launch: Launch): string[] {
  if (launch.transport === 'stdio') {
    const values = [...launch.env.values(), ...(launch.argReferences?.values() ?? [])].flatMap(bare);
    const ofFile = launch.envFile?.values.values() ?? [];
    return [...new Set([...values, ...ofFile, ...secretsOfArguments(launch.args)])];
  }
  const headers = [...launch.headers].flatMap(([name, value]) => [...bare(value), ...partsOf(name, value.value)]);
  const { clientSecret, privateKey } = launch.oauth ?? {};
  const client = [clientSecret, privateKey].flatMap((value) => (value ? bare(value) : []));
  const address = launch.urlReference ? [...bare(launch.urlReference), ...inPath(launch.urlReference)] : [];
  return [...headers, ...client, launch.sessionId, ...address, ...inAddress(launch.url)];
}

/** Returns the value with and without prefix and suffix, because servers often quote a refused token without them. */
function bare(given: EnvValue): string[] {
  if (given.kind === 'literal') return [given.value];
  const { value, prefix, suffix } = given;
  return [value, value.slice(prefix.length, value.length - suffix.length)];
}

/** Returns the value as part of an address path, with blanks, quotation marks and the like percent-encoded. */
function inPath({ value, prefix, suffix }: Reference): string[] {
  if (!URL.canParse(value) || !URL.canParse(prefix) || /[?#]/.test(prefix)) return [];
  const rest = new URL(value).pathname.slice(new URL(prefix).pathname.length);
  return [suffix !== '' && rest.endsWith(suffix) ? rest.slice(0, -suffix.length) : rest];
}

/** Returns the secret parts of `Bearer TOKEN`, of `Basic BASE64` (`name:password`), and of cookies (`a=b; c=d`). */
function partsOf(header: string, value: string): string[] {
  if (header.toLowerCase() === 'cookie')
    return value.split(/;\s*/).map((cookie) => cookie.slice(cookie.indexOf('=') + 1));
  const [, scheme, credentials] = /^(\S+)\s+(\S+)$/.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) return [];
  if (!/^basic$/i.test(scheme)) return [credentials];
  const decoded = Buffer.from(credentials, 'base64').toString('utf8');
  return [credentials, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}

function inAddress(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const url = new URL(address);
  const query = [...url.searchParams].filter(([key]) => isSecretName(key)).map(([, value]) => value);
  return [url.password, decoded(url.password), ...query, ...secretsIn(address)];
}
