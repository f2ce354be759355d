/**
 * The client behind a request: one session of an agent (G4). Servers learn only the capabilities we
 * forward.
 */
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { canonicalJson } from '../base/canonicalJson.js';
import { asFields, isObject, type Fields } from '../base/isObject.js';
import { errorCodes, RpcFailure } from './errors.js';
import { tasksExtension } from './versions.js';

export type { Fields };

/** `key` is that of the request in a result of 2026-07-28 requiring input. */
export type AskOptions = Readonly<{
  onProgress?: ((progress: Fields) => void) | undefined;
  key?: string | undefined;
}>;

/** What is known of an earlier instance of a conversation (L2a). */
export type Past =
  | { readonly kind: 'known' }
  /** The conversation may have had an earlier session, unknown here. */
  | { readonly kind: 'unknown' }
  /** If it had any state before, that state is gone. `why` is a clause. */
  | { readonly kind: 'lost'; readonly why: string };

export type ClientState =
  | { readonly kind: 'present' }
  /** Its request waits for answers since this time and may be evicted (G4b). In milliseconds. */
  | { readonly kind: 'waiting'; readonly since: number }
  | { readonly kind: 'gone' };

export const known: Past = { kind: 'known' };
export const present: ClientState = { kind: 'present' };
export const gone: ClientState = { kind: 'gone' };

export interface ServerClient {
  /** The same object for all requests of one session. */
  readonly session: object;
  /** For people; empty if the client gave no name. */
  readonly program: string;
  readonly capabilities: Fields;
  /** The lowest level of log messages for the client; undefined if it did not say. */
  readonly logLevel: string | undefined;
  /** The conversation within the session; undefined if the client belongs to none. */
  readonly conversation: string | undefined;
  /** The conversation whose list the client sees (G3g); undefined if it sees the list for all. */
  readonly listedFor: string | undefined;
  readonly past: Past;
  readonly state: ClientState;
  /**
   * Rejects with an error, perhaps with a JSON-RPC `code` and `data`. Aborting cancels the request
   * at the client.
   */
  ask(
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
    options?: AskOptions,
  ): Promise<Fields>;
  tell(method: string, params: Fields): void;
  /** The subject of its notifications has ended. */
  end(): void;
}

/** A session has other roots, wants another log level, or has ended. */
export type ClientChange = 'roots' | 'logLevel' | 'gone';

/** The expected client of an instance started early: its capabilities and its roots. */
export type ExpectedClient = Readonly<{
  capabilities: Fields;
  roots: () => readonly Record<'uri' | 'name', string>[];
}>;

export const noClient: ExpectedClient = { capabilities: {}, roots: () => [] };

/** The client to ask while no conversation uses an instance. It answers only `roots/list`. */
export function expectedClient(expected: ExpectedClient): ServerClient {
  const ask: ServerClient['ask'] = (method) => {
    if (method === 'roots/list') return Promise.resolve({ roots: expected.roots() });
    const reason = 'No conversation uses this instance now, so nobody can be asked.';
    return Promise.reject(new RpcFailure(errorCodes.internal, reason));
  };
  return {
    session: expected,
    program: '',
    capabilities: expected.capabilities,
    logLevel: undefined,
    conversation: undefined,
    listedFor: undefined,
    past: known,
    state: present,
    ask,
    tell: () => {},
    end: () => {},
  };
}

const uiExtension = 'io.modelcontextprotocol/ui';

/**
 * Returns the extensions of a client or a server that MCP Toolsets knows. Neither side learns of
 * another one (X8i).
 */
export function knownExtensions({ extensions }: { readonly extensions?: unknown }): Fields {
  if (!isObject(extensions)) return {};
  const known = [uiExtension, tasksExtension].filter((id) => isObject(extensions[id]));
  return Object.fromEntries(known.map((id) => [id, extensions[id]]));
}

export function declaredCapabilities(capabilities: Fields): ClientCapabilities {
  const { roots, sampling, elicitation } = capabilities;
  const said: Record<string, unknown> = {};
  if (isObject(roots)) said['roots'] = roots['listChanged'] === true ? { listChanged: true } : {};
  if (isObject(sampling)) said['sampling'] = parts(sampling, ['tools', 'context']);
  // In versions with one kind only, an empty object meant the form.
  if (isObject(elicitation)) {
    const kinds = parts(elicitation, ['form', 'url']);
    said['elicitation'] = 'url' in kinds || 'form' in kinds ? kinds : { form: {} };
  }
  const extensions = knownExtensions(capabilities);
  if (Object.keys(extensions).length > 0) said['extensions'] = extensions;
  return said;
}

export function showsApps({ extensions }: Fields): boolean {
  return isObject(asFields(extensions)[uiExtension]);
}

function parts(of: Fields, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => isObject(of[name])).map((name) => [name, {}]));
}

export function capabilitiesKey(capabilities: Fields): string {
  return canonicalJson(declaredCapabilities(capabilities));
}

/**
 * Returns capabilities covering both. If they conflict, those of `a` stay, so two clients never
 * undo each other.
 */
export function union(a: Fields, b: Fields): Fields {
  return together(declaredCapabilities(a), declaredCapabilities(b));
}

function together(a: Fields, b: Fields): Fields {
  const merged: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) merged[key] = eitherOf(merged[key], value);
  return merged;
}

function eitherOf(own: unknown, other: unknown): unknown {
  if (isObject(own) && isObject(other)) return together(own, other);
  if (Array.isArray(own) && Array.isArray(other)) {
    const known = new Set(own.map(canonicalJson));
    return [...(own as unknown[]), ...other.filter((item) => !known.has(canonicalJson(item)))];
  }
  return own === undefined || own === false ? other : own;
}

export function covers(a: Fields, b: Fields): boolean {
  return capabilitiesKey(union(a, b)) === capabilitiesKey(a);
}

export function refusal(
  capabilities: Fields,
  method: string,
  params: Fields | undefined,
): RpcFailure | undefined {
  const said = declaredCapabilities(capabilities);
  if (method === 'roots/list') return said.roots ? undefined : lacks('roots');
  if (method === 'sampling/createMessage') {
    if (!said.sampling) return lacks('sampling');
    const isMissing = params?.['tools'] !== undefined && !said.sampling.tools;
    return isMissing ? lacks('sampling.tools', errorCodes.invalidParams) : undefined;
  }
  if (method !== 'elicitation/create')
    return new RpcFailure(errorCodes.methodNotFound, 'Method not found');
  if (!said.elicitation) return lacks('elicitation');
  const mode = params?.['mode'] === 'url' ? 'url' : 'form';
  return mode in said.elicitation
    ? undefined
    : lacks(`elicitation.${mode}`, errorCodes.invalidParams);
}

function lacks(capability: string, code: number = errorCodes.methodNotFound): RpcFailure {
  return new RpcFailure(
    code,
    `The client that is asked has not declared the capability "${capability}".`,
  );
}
