/**
 * What a person approves when they let a server start (S1): a description of its launch that can be shown, stored
 * and compared, and its fingerprint. Links in paths are followed; all else here is pure.
 *
 * A description holds everything that decides what runs, where it connects to and what it is given: the file and the
 * id, transport, command, arguments in their order, working directory, names and literals of `env` and `headers`, what
 * references refer to, the file of `envFile` and its variables, URL, session id. It does not hold the values behind
 * references (the person changes those, not the workspace), the secrets in that file, filters, transforms, time limits, `enabled`, `truely-stateless`, the order of maps, or comments.
 *
 * Invariants: two launches with one fingerprint start the same, but for those values; no secret stands in a description in clear, only its
 * digest; only characters of tokens are ever masked, so that no shell syntax hides from who approves it.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { assertNever } from '../base/assertNever.js';
import { quoted } from '../base/inert.js';
import { realPath } from '../base/paths.js';
import { isSecretName, mask, withoutSecrets } from '../base/secrets.js';
import type {
  EnvFile,
  EnvValue,
  Launch,
  OAuthSettings,
  Reference,
  ReferenceSource,
  ServerDefinition,
} from '../config/model.js';
import { folderOf } from '../config/sources.js';

export interface LaunchPart {
  readonly label:
    | 'transport'
    | 'command'
    | 'argument'
    | 'directory'
    | 'env file'
    | 'environment'
    | 'address'
    | 'header'
    | 'session id'
    | 'sign-in';
  /** Stands on one line of printable characters. No two values are written the same unless something is masked. */
  readonly shown: string;
  /** Stands for the whole value where `shown` masks some of it. */
  readonly digest?: string;
}

export interface LaunchDescription {
  readonly server: string;
  /** The absolute path of the file that it comes from, in the real folder: a folder is one by whatever link it is reached. */
  readonly source: string;
  readonly parts: readonly LaunchPart[];
  /** The absolute path of the folder in which a program runs; absent where none does. */
  readonly directory?: string;
  readonly fingerprint: string;
}

const described = new WeakMap<ServerDefinition, LaunchDescription>();

export function describeLaunch(definition: ServerDefinition): LaunchDescription {
  const known = described.get(definition);
  if (known) return known;
  const server = definition.id;
  const { file } = definition.places.key;
  const source = path.join(realPath(folderOf(file)), path.relative(folderOf(file), file));
  const { launch } = definition;
  const parts = partsOf(launch, (label, value) => hash([server, source, label, value]).slice(0, 32));
  const fingerprint = hash([
    server,
    source,
    ...parts.flatMap(({ label, shown, digest }) => [label, shown, digest ?? '']),
  ]);
  const runsIn = launch.transport === 'stdio' ? { directory: realPath(launch.cwd) } : {};
  const description = { server, source, parts, ...runsIn, fingerprint };
  described.set(definition, description);
  return description;
}

type Digest = (label: string, value: string) => string;

function partsOf(launch: Launch, digest: Digest): LaunchPart[] {
  const plain = (label: LaunchPart['label'], value: string, option?: string): LaunchPart => {
    const masked = maskSecrets(value, option);
    return masked === value
      ? { label, shown: written(value) }
      : { label, shown: written(masked, true), digest: digest(label, value) };
  };
  const values = (label: 'environment' | 'header', map: ReadonlyMap<string, EnvValue>): LaunchPart[] =>
    [...map.entries()]
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([name, value]) => valuePart(label, name, value, digest));
  switch (launch.transport) {
    case 'stdio':
      return [
        plain('transport', launch.transport),
        // Which program runs, and where, is never masked: nothing else tells whether it is the right one.
        { label: 'command', shown: written(launch.command) },
        ...launch.args.map((argument, index) => {
          const reference = launch.argReferences?.get(index);
          return reference
            ? referencePart('argument', undefined, reference, (text) => digest('argument', text))
            : plain('argument', argument, launch.args[index - 1]);
        }),
        { label: 'directory', shown: written(realPath(launch.cwd)) },
        ...(launch.envFile ? envFileParts(launch.envFile, digest) : []),
        ...values('environment', launch.env),
      ];
    case 'streamable_http':
      return [
        plain('transport', launch.transport),
        launch.urlReference
          ? referencePart('address', undefined, launch.urlReference, (text) => digest('address', text))
          : plain('address', launch.url),
        ...values('header', launch.headers),
        ...(launch.sessionId === ''
          ? []
          : [{ label: 'session id' as const, shown: mask, digest: digest('session id', launch.sessionId) }]),
        ...signInParts(launch.oauth, digest),
      ];
    default:
      return assertNever(launch);
  }
}

/**
 * The variables of a file decide what runs as those of `env` do. But a secret in it may be exchanged by a person without
 * a question, so what is masked does not count.
 */
function envFileParts({ file, values }: EnvFile, digest: Digest): LaunchPart[] {
  const label = 'env file';
  const sorted = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    { label, shown: written(realPath(file)) },
    ...sorted.map(
      ([name, value]) => ({ ...environmentPart(name, value, () => digest(label, 'masked')), label }) as const,
    ),
  ];
}

function signInParts(oauth: OAuthSettings | undefined, digest: Digest): LaunchPart[] {
  if (!oauth) return [];
  const { grant, clientId, issuer, clientSecret, privateKey, scopes, redirectPort } = oauth;
  const part = (shown: string): LaunchPart => ({ label: 'sign-in', shown });
  const secret = (name: string, value: EnvValue | undefined): LaunchPart[] =>
    value ? [valuePart('sign-in', name, value, digest)] : [];
  return [
    part(`grant = ${grant}`),
    ...(clientId === '' ? [] : [part(`client = ${written(clientId)}`)]),
    ...(issuer === undefined ? [] : [part(`issuer = ${written(issuer)}`)]),
    ...secret('client secret', clientSecret),
    ...secret('private key', privateKey),
    ...scopes.map((scope) => part(`scope = ${written(scope)}`)),
    ...(redirectPort === undefined ? [] : [part(`redirect port = ${redirectPort}`)]),
  ];
}

function valuePart(
  label: 'environment' | 'header' | 'sign-in',
  name: string,
  value: EnvValue,
  digest: Digest,
): LaunchPart {
  const shownName = written(name);
  switch (value.kind) {
    case 'reference':
      return referencePart(label, name, value, (text) => digest(`prefix of ${label} ${name}`, text));
    case 'literal':
      return label === 'environment'
        ? environmentPart(name, value.value, (text) => digest(`${label} ${name}`, text))
        : { label, shown: `${shownName} = ${mask}`, digest: digest(`${label} ${name}`, value.value) };
    default:
      return assertNever(value);
  }
}

const nouns = { env: 'variable', secret: 'secret' } as const;

function argvOf(source: ReferenceSource): readonly string[] {
  return source.kind === 'command' ? source.argv : [];
}

/** Shows where a value comes from, and what is put around it; the value itself is never part of it. */
function referencePart(
  label: LaunchPart['label'],
  name: string | undefined,
  { source, prefix, suffix, fallback }: Reference,
  digest: (text: string) => string,
): LaunchPart {
  const isOpen = name === undefined || (label === 'environment' && !holdsSecret(name));
  let isMasked = false;
  /** Nothing in this can be taken for a text in front or behind, nor for another number of arguments. */
  const outputOf = (argv: readonly string[]): string => {
    const words = argv.map((word, index) => {
      const masked = maskSecrets(word, argv[index - 1]);
      isMasked ||= masked !== word;
      return written(masked, masked !== word);
    });
    return `the output of [${words.join(', ')}]`;
  };
  const text = (value: string): string => {
    // Only `Bearer ` and the like is shown where values may be secrets, as anything longer may be one itself.
    const shown = isOpen ? maskSecrets(value) : /^[A-Za-z]{1,12} $/.test(value) ? value : mask;
    isMasked ||= shown !== value;
    return quoted(shown);
  };
  const value = [
    ...(prefix === '' ? [] : [text(prefix)]),
    source.kind === 'command' ? outputOf(source.argv) : `the ${nouns[source.kind]} ${written(source.name)}`,
    ...(suffix === '' ? [] : [text(suffix)]),
  ].join(' and ');
  const otherwise = fallback === undefined ? '' : `, or ${text(fallback)} where that is not set`;
  const shown = `${name === undefined ? '' : `${written(name)} = `}${value}${otherwise}`;
  const isPlain = suffix === '' && fallback === undefined && source.kind !== 'command';
  const whole = isPlain ? prefix : JSON.stringify([prefix, suffix, fallback ?? null, ...argvOf(source)]);
  return isMasked ? { label, shown, digest: digest(whole) } : { label, shown };
}

/** Every variable may decide what runs, so only a word whose name says that it is a secret is masked as a whole. */
function environmentPart(name: string, value: string, digest: (text: string) => string): LaunchPart {
  const isWord = !script.test(value) && !/[/\\]/.test(value);
  const masked = holdsSecret(name) && isWord && value !== '' ? mask : maskSecrets(value);
  const label = 'environment';
  if (masked === value) return { label, shown: `${written(name)} = ${quoted(value)}` };
  return { label, shown: `${written(name)} = ${masked === mask ? mask : quoted(masked)}`, digest: digest(value) };
}

/** `GIT_CONFIG_KEY_0` names a key of Git's configuration. */
function holdsSecret(name: string): boolean {
  return isSecretName(name) && !/^GIT_CONFIG_KEY_/i.test(name);
}

/** What a shell takes for more than a word; nothing is masked beside it, because it might be what runs (S1a). */
const script = /[\s;|&$`()<>]/;
/** A header as an argument: to a shell, too, what stands behind the colon is never the command. */
const header = /^[A-Za-z0-9-]{1,64}: (?:[A-Za-z]{1,20} )?[A-Za-z0-9._~+=-]+$/;
/** Names no file and no option. */
const token = /^[A-Za-z0-9_~%!+:@=][A-Za-z0-9._~%!+:@=-]*$/;

/**
 * Masks secrets that can be told by names and shapes (E4). Only the characters of tokens may vanish, and nothing that
 * may be a program.
 * @param option the argument before it
 */
function maskSecrets(value: string, option = ''): string {
  if (script.test(value) && !header.test(value)) return value;
  const rest = withoutSecrets(value, { environment: false, spare: (secret) => !token.test(secret) });
  const opaque = rest === value && /^\w{8,}$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value);
  return opaque && option.startsWith('--') && isSecretName(option) ? mask : rest;
}

/** Writes a value as it is where that is beyond doubt, and else in quotes. Nothing but a mask of ours looks like one. */
function written(value: string, isMasked = false): string {
  return /^[\w@%+=:,./\\~*-]+$/.test(isMasked ? value.replaceAll(mask, '') || '-' : value) ? value : quoted(value);
}

function hash(values: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
