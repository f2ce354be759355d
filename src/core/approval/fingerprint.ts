/**
 * Describes a launch for an approval (S1), with all that decides what runs, and gives it a fingerprint. It leaves out the
 * values behind references, because the person changes those and not the workspace, and the values of `envFile` that a
 * person may exchange. Filters, transforms, time limits, `enabled`, the order of maps and comments do not count.
 * Invariants: two launches with one fingerprint start the same, except for those values; with one fingerprint of their
 * worktrees, they differ only in the root. A description has only the digest of a masked value.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { byCodeUnits } from '../base/canonicalJson.js';
import { quoted } from '../base/inert.js';
import { realPath } from '../base/paths.js';
import { perObject } from '../base/perObject.js';
import { mask } from '../base/secrets.js';
import type { EnvFile, EnvValue, Launch, OAuthSettings, Reference, ServerDefinition } from '../config/model.js';
import { folderOf } from '../config/sources.js';
import { maskedAddress, maskedArgument, maskedVariable, mayBeExchanged } from './reviewMask.js';
import { relocated, worktreeOf, type WorktreePlace } from './worktree.js';

type Stdio = 'command' | 'program' | 'argument' | 'directory' | 'env file' | 'environment';
type Http = 'address' | 'header' | 'session id' | 'sign-in';

export interface LaunchPart {
  readonly label: 'transport' | Stdio | Http;
  /** One line of printable characters. Two values have the same text only if a part is masked. */
  readonly shown: string;
  readonly digest?: string;
}

export interface LaunchDescription {
  readonly server: string;
  /** The absolute path of its file in the real folder, so that links to one folder count as the same. */
  readonly source: string;
  readonly parts: readonly LaunchPart[];
  readonly directory?: string;
  readonly fingerprint: string;
  /** The Git worktree of the source. Its fingerprint is the same in all worktrees, and absent if a path leads out. */
  readonly worktree?: WorktreePlace & { readonly fingerprint?: string };
}

export const describeLaunch = perObject((definition: ServerDefinition): LaunchDescription => {
  const server = definition.id;
  const { file } = definition.places.key;
  const source = path.join(realPath(folderOf(file)), path.relative(folderOf(file), file));
  const launch = withRealPaths(definition.launch);
  const { parts, fingerprint } = printOf(launch, [server, source]);
  const runsIn = launch.transport === 'stdio' ? { directory: launch.cwd } : {};
  return { server, source, parts, ...runsIn, fingerprint, ...inWorktree(launch, server, source) };
});

function inWorktree(launch: Launch, server: string, source: string): Pick<LaunchDescription, 'worktree'> {
  const found = worktreeOf(source);
  if (!found) return {};
  const { root, ...place } = found;
  const moved = relocated(launch, root);
  const names = [place.repository, server, place.within];
  return { worktree: { ...place, ...(moved && { fingerprint: printOf(moved, names).fingerprint }) } };
}

function printOf(launch: Launch, names: readonly string[]): Pick<LaunchDescription, 'parts' | 'fingerprint'> {
  const parts = partsOf(launch, (of) => (value) => hash([...names, of, value]));
  const texts = parts.flatMap(({ label, shown, digest }) => [label, shown, digest ?? '']);
  return { parts, fingerprint: hash([...names, ...texts]) };
}

function withRealPaths(launch: Launch): Launch {
  if (launch.transport !== 'stdio') return launch;
  const { cwd, envFile } = launch;
  return { ...launch, cwd: realPath(cwd), ...(envFile && { envFile: { ...envFile, file: realPath(envFile.file) } }) };
}

type Digest = (of: string) => (value: string) => string;

function partsOf(launch: Launch, digest: Digest): LaunchPart[] {
  const text = (label: 'argument' | 'address', value: string, reference?: Reference): LaunchPart => {
    if (reference) return referencePart(label, undefined, reference, digest(label));
    const masked = maskedText(label, value);
    if (masked === value) return { label, shown: written(value) };
    return { label, shown: written(masked, true), digest: digest(label)(value) };
  };
  const values = (label: 'environment' | 'header', map: ReadonlyMap<string, EnvValue>): LaunchPart[] =>
    sorted(map).map(([name, value]) => valuePart(label, name, value, digest));
  switch (launch.transport) {
    case 'stdio':
      return [
        { label: 'transport', shown: launch.transport },
        // The program and its folder are never masked, because nothing else shows whether they are right.
        { label: 'command', shown: written(launch.command) },
        ...(launch.programs ?? []).map((file): LaunchPart => ({ label: 'program', shown: written(file) })),
        ...launch.args.map((argument, index) => text('argument', argument, launch.argReferences?.get(index))),
        { label: 'directory', shown: written(launch.cwd) },
        ...(launch.envFile ? envFileParts(launch.envFile, digest) : []),
        ...values('environment', launch.env),
      ];
    case 'streamable_http':
      return [
        { label: 'transport', shown: launch.transport },
        text('address', launch.url, launch.urlReference),
        ...values('header', launch.headers),
        ...(launch.sessionId === ''
          ? []
          : [{ label: 'session id' as const, shown: mask, digest: digest('session id')(launch.sessionId) }]),
        ...signInParts(launch.oauth, digest),
      ];
  }
}

/** Variables decide what runs, as those in `env` do. But a person may exchange a secret without a question. */
function envFileParts({ file, values }: EnvFile, digest: Digest): LaunchPart[] {
  const label = 'env file';
  return [
    { label, shown: written(file) },
    ...sorted(values).map(([name, value]): LaunchPart => {
      const isExchanged = mayBeExchanged(name) && maskedVariable(name, value) === mask;
      if (isExchanged) return { label, shown: `${written(name)} = ${mask}   (may be exchanged)` };
      return { ...environmentPart(name, value, digest(`${label} ${name}`)), label };
    }),
  ];
}

type NamedLabel = 'environment' | 'header' | 'sign-in';

function signInParts(oauth: OAuthSettings | undefined, digest: Digest): LaunchPart[] {
  if (!oauth) return [];
  const { grant, clientId, issuer, clientSecret, privateKey, scopes, redirectPort } = oauth;
  const part = (name: string, value: string | number | undefined): LaunchPart[] =>
    value === undefined ? [] : [{ label: 'sign-in', shown: `${name} = ${written(String(value))}` }];
  const secret = (name: string, value: EnvValue | undefined): LaunchPart[] =>
    value ? [valuePart('sign-in', name, value, digest)] : [];
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

function valuePart(label: NamedLabel, name: string, value: EnvValue, digest: Digest): LaunchPart {
  if (value.kind === 'reference') return referencePart(label, name, value, digest(`prefix of ${label} ${name}`));
  const digestOf = digest(`${label} ${name}`);
  if (label === 'environment') return environmentPart(name, value.value, digestOf);
  return { label, shown: `${written(name)} = ${mask}`, digest: digestOf(value.value) };
}

/** Shows the source of a value and the text around it, never the value. */
function referencePart(
  label: LaunchPart['label'],
  name: string | undefined,
  { source, prefix, suffix, fallback }: Reference,
  digest: (text: string) => string,
): LaunchPart {
  let isMasked = false;
  /** The form is unambiguous: no output can look like another number of arguments or like the text around it. */
  const outputOf = (argv: readonly string[]): string => {
    const words = argv.map((word) => {
      const masked = maskedArgument(word);
      isMasked ||= masked !== word;
      return written(masked, masked !== word);
    });
    return `the output of [${words.join(', ')}]`;
  };
  const text = (value: string): string => {
    const shown = maskedAround(label, name, value);
    isMasked ||= shown !== value;
    return quoted(shown);
  };
  const value = [
    ...(prefix === '' ? [] : [text(prefix)]),
    source.kind === 'command'
      ? outputOf(source.argv)
      : `the ${source.kind === 'env' ? 'variable' : 'secret'} ${written(source.name)}`,
    ...(suffix === '' ? [] : [text(suffix)]),
  ].join(' and ');
  const otherwise = fallback === undefined ? '' : `, or ${text(fallback)} if that is not set`;
  const shown = `${name === undefined ? '' : `${written(name)} = `}${value}${otherwise}`;
  const isPlain = suffix === '' && fallback === undefined && source.kind !== 'command';
  const whole = isPlain
    ? prefix
    : JSON.stringify([prefix, suffix, fallback ?? null, ...(source.kind === 'command' ? source.argv : [])]);
  return isMasked ? { label, shown, digest: digest(whole) } : { label, shown };
}

/** Masks a text around a reference. */
function maskedAround(label: LaunchPart['label'], name: string | undefined, text: string): string {
  if (name === undefined) return maskedText(label, text);
  if (label === 'environment') return maskedVariable(name, text);
  // Only a word such as `Bearer ` is shown, because a longer text may be a secret too.
  return /^[A-Za-z]{1,12} $/.test(text) ? text : mask;
}

/** Every variable may decide what runs, so a whole value is masked only if its name marks a secret. */
function environmentPart(name: string, value: string, digest: (text: string) => string): LaunchPart {
  const masked = maskedVariable(name, value);
  const label = 'environment';
  if (masked === value) return { label, shown: `${written(name)} = ${quoted(value)}` };
  return { label, shown: `${written(name)} = ${masked === mask ? mask : quoted(masked)}`, digest: digest(value) };
}

function maskedText(label: LaunchPart['label'], value: string): string {
  if (label === 'argument') return maskedArgument(value);
  return label === 'address' ? maskedAddress(value) : maskedVariable('', value);
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => byCodeUnits(a, b));
}

/** Writes a value without quotes if it is unambiguous, and otherwise in quotes. No value can look like a mask. */
function written(value: string, isMasked = false): string {
  return /^[\w@%+=:,./\\~*-]+$/.test(isMasked ? value.replaceAll(mask, '') || '-' : value) ? value : quoted(value);
}

function hash(values: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
