/** `mcp-toolsets secret` (C2a). The value is never an argument, which other programs can see. */
import { isSecretName, secretNameRule } from '../core/config/read/references.js';
import { deleteSecret, NoKeyring, secretNames, storeSecret } from './keyring.js';
import type { Words } from './options.js';
import { complain, echo, misuse, print, toJson } from './output.js';
import { typedLine } from './terminalQuestion.js';
import type { Run } from './withEngine.js';

const largestValue = 64 * 1024;

export async function secret({ json }: Run, [action, name, ...more]: Words): Promise<number> {
  try {
    if (action === 'list') {
      if (name !== undefined)
        return misuse(`\`secret list\` does not take the argument "${name}".`);
      const names = secretNames();
      return print(json ? toJson(names) : names.join('\n') || 'No secrets are stored.');
    }
    if (action !== 'set' && action !== 'delete') {
      return misuse('Write `secret set NAME`, `secret delete NAME` or `secret list`.');
    }
    if (name === undefined) return misuse('The name of a secret is missing.');
    if (!isSecretName(name))
      return misuse(`"${name}" cannot be the name of a secret: it must be ${secretNameRule}.`);
    if (more.length > 0) {
      const why = 'Do not give the value as an argument, because other programs can see arguments.';
      return misuse(`${why} Type it when you are asked, or send it to the standard input.`);
    }
    if (action === 'set') return await set(name);
    return deleteSecret(name)
      ? print(`Deleted ${name}.`)
      : complain(`The keyring has no secret ${name}.`);
  } catch (error) {
    if (!(error instanceof NoKeyring)) throw error;
    const fix = `Set the environment variable ${name ?? 'of the same name as each secret'} instead.`;
    return complain(`The keyring of the system cannot be used (${error.message}). ${fix}`);
  }
}

async function set(name: string): Promise<number> {
  const value = process.stdin.isTTY ? await typed(name) : await piped();
  if (value === undefined) return complain('Nothing was stored.');
  if (value === '') return complain('Nothing was stored: the value is empty.');
  if (value.length > largestValue)
    return complain('Nothing was stored: the value is larger than 64 KiB.');
  storeSecret(name, value);
  return print(`Stored ${name} in the keyring of the system.`);
}

/** Resolves to undefined if the person gives up. */
async function typed(name: string): Promise<string | undefined> {
  const givenUp = new AbortController();
  const { signal } = givenUp;
  const ask = (): void => echo(`Value of ${name} (hidden while you type): `);
  const interrupt = (): void => givenUp.abort();
  const value = await typedLine({
    input: process.stdin,
    ask,
    echo: () => {},
    interrupt,
    signal,
  });
  echo('\n');
  return signal.aborted ? undefined : value;
}

async function piped(): Promise<string> {
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const piece of process.stdin) {
    text += piece;
    if (text.length > largestValue) break;
  }
  return text.replace(/\r?\n$/, '');
}
