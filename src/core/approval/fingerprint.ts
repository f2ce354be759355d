/**
 * Describes a launch for an approval (S1), with all that decides what runs, and gives it a
 * fingerprint. It leaves out the values behind references, because the person changes those and not
 * the workspace, and the values of `envFile` that a person may exchange. Filters, transforms, time
 * limits, `enabled`, the order of maps and comments do not count. Invariants: two launches with one
 * fingerprint start the same, except for those values; with one fingerprint of their worktrees,
 * they differ only in the root. A description has only the digest of a masked value.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { byCodeUnits } from '../base/canonicalJson.js';
import { quoted } from '../base/inert.js';
import { realPath } from '../base/paths.js';
import { perObject } from '../base/perObject.js';
import { mask } from '../base/secrets.js';
import type {
  EnvFile,
  Launch,
  OAuthSettings,
  Reference,
  ServerDefinition,
  Value,
} from '../config/model.js';
import { folderOf } from '../config/sources.js';
import { maskedAddress, maskedArgument, maskedVariable, mayBeExchanged } from './reviewMask.js';
import { relocated } from './relocated.js';
import { worktreeOf, type WorktreePlace } from './worktree.js';

type Stdio =
  | 'command'
  | 'program'
  | 'package'
  | 'argument'
  | 'directory'
  | 'env file'
  | 'environment';
type Http = 'address' | 'header' | 'session id' | 'sign-in';

export interface LaunchPart {
  readonly label: 'transport' | Stdio | Http;
  /** One line of printable characters. Two values have the same text only if a part is masked. */
  readonly shown: string;
  readonly digest?: string;
}

export interface LaunchDescription {
  readonly server: string;
  /**
   * The absolute path of its file in the real folder, so that links to one folder count as the
   * same.
   */
  readonly source: string;
  readonly parts: readonly LaunchPart[];
  readonly directory?: string;
  readonly fingerprint: string;
  /**
   * The Git worktree of the source. Its fingerprint is the same in all worktrees, and absent if a
   * path leads out.
   */
  readonly worktree?: WorktreePlace & { readonly fingerprint?: string };
}

export const describeLaunch = perObject((definition: ServerDefinition): LaunchDescription => {
  const server = definition.id;
  const { source: file } = definition;
  const source = path.join(realPath(folderOf(file)), path.relative(folderOf(file), file));
  const launch = withRealPaths(definition.launch);
  const { parts, fingerprint } = printOf(launch, [server, source]);
  const runsIn = launch.transport === 'stdio' ? { directory: launch.cwd } : {};
  return {
    server,
    source,
    parts,
    ...runsIn,
    fingerprint,
    ...inWorktree(launch, server, source),
  };
});

function inWorktree(
  launch: Launch,
  server: string,
  source: string,
): Pick<LaunchDescription, 'worktree'> {
  const found = worktreeOf(source);
  if (!found) return {};
  const { root, ...place } = found;
  const moved = relocated(launch, root);
  const names = [place.repository, server, place.within];
  return {
    worktree: { ...place, ...(moved && { fingerprint: printOf(moved, names).fingerprint }) },
  };
}

function printOf(
  launch: Launch,
  names: readonly string[],
): Pick<LaunchDescription, 'parts' | 'fingerprint'> {
  const parts = partsOf(launch).map(({ label, shown, hidden }): LaunchPart => {
    return hidden
      ? {
          label,
          shown,
          digest: hash([...names, ...hidden]),
        }
      : { label, shown };
  });
  const texts = parts.flatMap(({ label, shown, digest }) => [label, shown, digest ?? '']);
  return { parts, fingerprint: hash([...names, ...texts]) };
}

function withRealPaths(launch: Launch): Launch {
  if (launch.transport !== 'stdio') return launch;
  const { cwd, envFile } = launch;
  return {
    ...launch,
    cwd: realPath(cwd),
    ...(envFile && { envFile: { ...envFile, file: realPath(envFile.file) } }),
  };
}

/** `hidden`: the name and the value that a digest stands for. */
type Part = Pick<LaunchPart, 'label' | 'shown'> & { readonly hidden?: readonly [string, string] };

function partsOf(launch: Launch): Part[] {
  const plain = (label: Part['label'], value: string): Part => ({ label, shown: written(value) });
  const values = (label: 'environment' | 'header', map: ReadonlyMap<string, Value>): Part[] =>
    sorted(map).map(([name, value]) => valuePart(label, name, value));
  const transport = plain('transport', launch.transport);
  if (launch.transport === 'stdio') {
    return [
      transport,
      // The program and its folder are never masked, because nothing else shows whether they are
      // right.
      plain('command', launch.command),
      ...(launch.programs ?? []).map((file) => plain('program', file)),
      ...(launch.deciding ?? []).map(({ kind, file, digest }): Part => ({
        label: 'package',
        shown: `${kind}: ${written(file)}`,
        hidden: [kind, digest],
      })),
      ...launch.args.map((value) => valuePart('argument', undefined, value)),
      plain('directory', launch.cwd),
      ...(launch.envFile ? envFileParts(launch.envFile) : []),
      ...values('environment', launch.env),
    ];
  }
  const { url, headers, sessionId, oauth } = launch;
  const session: Part = {
    label: 'session id',
    shown: mask,
    hidden: ['session id', sessionId],
  };
  return [
    transport,
    valuePart('address', undefined, url),
    ...values('header', headers),
    ...(sessionId === '' ? [] : [session]),
    ...(oauth ? signInParts(oauth) : []),
  ];
}

/**
 * Variables decide what runs, as those in `env` do. But a person may exchange a secret without a
 * question.
 */
function envFileParts({ file, values }: EnvFile): Part[] {
  const label = 'env file';
  return [
    { label, shown: written(file) },
    ...sorted(values).map(([name, value]): Part => {
      const isExchanged = mayBeExchanged(name) && maskedVariable(name, value) === mask;
      if (isExchanged) return { label, shown: `${written(name)} = ${mask}   (may be exchanged)` };
      return variablePart(label, name, value);
    }),
  ];
}

function signInParts(oauth: OAuthSettings): Part[] {
  const { grant, clientId, issuer, clientSecret, privateKey, scopes, redirectPort } = oauth;
  const part = (name: string, value: string | number | undefined): Part[] =>
    value === undefined ? [] : [{ label: 'sign-in', shown: `${name} = ${written(String(value))}` }];
  const secret = (name: string, value: Value | undefined): Part[] =>
    value ? [valuePart('sign-in', name, value)] : [];
  return [
    ...part('grant', grant),
    ...part('client', clientId === '' ? undefined : clientId),
    ...part('issuer', issuer),
    ...secret('client secret', clientSecret),
    ...secret('private key', privateKey),
    ...scopes.flatMap((scope) => part('scope', scope)),
    ...part('redirect port', redirectPort),
  ];
}

type ValueLabel = 'argument' | 'address' | 'environment' | 'header' | 'sign-in';

/** @param name undefined for an argument and an address */
function valuePart(label: ValueLabel, name: string | undefined, value: Value): Part {
  if (value.kind === 'reference') return referencePart(label, name, value);
  const text = value.value;
  if (name === undefined) {
    const masked = maskedAround(label, name, text);
    const shown = written(masked, masked !== text);
    return masked === text
      ? { label, shown }
      : {
          label,
          shown,
          hidden: [label, text],
        };
  }
  if (label === 'environment') return variablePart(label, name, text);
  return {
    label,
    shown: `${written(name)} = ${mask}`,
    hidden: [`${label} ${name}`, text],
  };
}

/** Shows the source of a value and the text around it, never the value. */
function referencePart(
  label: ValueLabel,
  name: string | undefined,
  { source, prefix, suffix, fallback }: Reference,
): Part {
  let isMasked = false;
  /**
   * The form is unambiguous: no output can look like another number of arguments or like the text
   * around it.
   */
  const outputOf = (argv: readonly string[]) => {
    const words = argv.map((word) => {
      const masked = maskedArgument(word);
      isMasked ||= masked !== word;
      return written(masked, masked !== word);
    });
    return `the output of [${words.join(', ')}]`;
  };
  const text = (value: string) => {
    const shown = maskedAround(label, name, value);
    isMasked ||= shown !== value;
    return quoted(shown);
  };
  const argv = source.kind === 'command' ? source.argv : [];
  const from =
    source.kind === 'command'
      ? outputOf(source.argv)
      : `the ${source.kind === 'env' ? 'variable' : 'secret'} ${written(source.name)}`;
  const value = [
    ...(prefix === '' ? [] : [text(prefix)]),
    from,
    ...(suffix === '' ? [] : [text(suffix)]),
  ].join(' and ');
  const otherwise = fallback === undefined ? '' : `, or ${text(fallback)} if that is not set`;
  const shown = `${name === undefined ? '' : `${written(name)} = `}${value}${otherwise}`;
  if (!isMasked) return { label, shown };
  const isPlain = suffix === '' && fallback === undefined && source.kind !== 'command';
  const whole = isPlain ? prefix : JSON.stringify([prefix, suffix, fallback ?? null, ...argv]);
  const of = name === undefined ? label : `prefix of ${label} ${name}`;
  return {
    label,
    shown,
    hidden: [of, whole],
  };
}

/** Masks a text around a reference, a whole argument and a whole address. */
function maskedAround(label: ValueLabel, name: string | undefined, text: string): string {
  if (label === 'argument') return maskedArgument(text);
  if (label === 'address') return maskedAddress(text);
  if (label === 'environment') return maskedVariable(name ?? '', text);
  // Only a word such as `Bearer ` is shown, because a longer text may be a secret too.
  return /^[A-Za-z]{1,12} $/.test(text) ? text : mask;
}

/**
 * Every variable may decide what runs, so a whole value is masked only if its name marks a secret.
 */
function variablePart(label: 'environment' | 'env file', name: string, value: string): Part {
  const masked = maskedVariable(name, value);
  if (masked === value) return { label, shown: `${written(name)} = ${quoted(value)}` };
  const shown = `${written(name)} = ${masked === mask ? mask : quoted(masked)}`;
  return {
    label,
    shown,
    hidden: [`${label} ${name}`, value],
  };
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => byCodeUnits(a, b));
}

/**
 * Writes a value without quotes if it is unambiguous, and otherwise in quotes. No value can look
 * like a mask.
 */
function written(value: string, isMasked = false): string {
  return /^[\w@%+=:,./\\~*-]+$/.test(isMasked ? value.replaceAll(mask, '') || '-' : value)
    ? value
    : quoted(value);
}

function hash(values: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
