/**
 * Our client as a program for the published conformance suite. It connects to the given server and
 * calls its tools. It is also the person for a sign-in, and it answers forms like the command line.
 * It uses the product's own parts and clock, because the suite measures pauses requested by a
 * server.
 */
import { formAnswers } from '../../../src/cli/formAnswers.js';
import { systemClock } from '../../../src/core/base/clock.js';
import { launchHashOf } from '../../../src/core/config/launchValues.js';
import { literal } from '../../../src/core/config/model.js';
import type { HttpLaunch, OAuthSettings } from '../../../src/core/config/model.js';
import type { Connection } from '../../../src/core/connections/connection.js';
import { EraMemories } from '../../../src/core/connections/eras/modern.js';
import { createConnector } from '../../../src/core/connector/createConnector.js';
import type { Fields } from '../../../src/core/protocol/client.js';
import { OAuth } from '../../../src/core/connections/http/oauth/oauth.js';
import { issuerOf, Person, Secrets } from './person.js';

/** Servers of these scenarios have tools and take no calls. */
const listsAlone = ['json-schema-ref-no-deref'];
/** These scenarios also count the first message. It asks an unknown server for its era (X8). */
const knownScenarios = ['request-metadata', 'http-standard-headers'];

interface ToolCall {
  readonly name: string;
  readonly arguments: Fields;
}

interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  /** The calls of the scenario, unless it needs one call of each tool. */
  readonly toolCalls?: readonly ToolCall[];
}

/** A person gives up after this number of sign-ins. */
const mostSignIns = 3;
/** The suite publishes the metadata of this client and accepts no other document. */
const metadataDocument = 'https://conformance-test.local/client-metadata.json';

const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
const url = process.argv.at(-1) ?? '';
const signal = new AbortController().signal;
const log = {
  write: (level: string, text: string) => void process.stderr.write(`[${level}] ${text}\n`),
};
const oauth = new OAuth({
  secrets: new Secrets(),
  clock: systemClock,
  log,
  keepSecret: () => ({ dispose: () => {} }),
  clientVersion: '0.0.0',
});
const eras = new EraMemories();
const connector = createConnector(
  {
    env: process.env,
    clock: systemClock,
    trace: () => true,
    clientVersion: '0.0.0',
    oauth,
  },
  eras,
);
/** Accepts what it is asked by a form, with nothing but the form's own defaults. */
const client = formAnswers({}, (text) => log.write('warn', text));
let launch: HttpLaunch = {
  transport: 'streamable_http',
  url: literal(url),
  headers: new Map(),
  sessionId: '',
};

async function settings(): Promise<OAuthSettings> {
  const optional = (value: string | undefined) =>
    value === undefined ? undefined : literal(value);
  return {
    grant: scenario.startsWith('auth/client-credentials')
      ? 'client_credentials'
      : 'authorization_code',
    clientId: context.client_id ?? (scenario === 'auth/basic-cimd' ? metadataDocument : ''),
    issuer:
      context.client_secret === undefined && context.private_key_pem === undefined
        ? undefined
        : await issuerOf(url),
    clientSecret: optional(context.client_secret),
    privateKey: optional(context.private_key_pem),
    scopes: [],
    redirectPort: undefined,
  };
}

/** False if the server first needs a sign-in, or another one. */
async function use(): Promise<boolean> {
  const outcome = await connector.connect({
    server: 'suite',
    launch,
    capabilities: client.capabilities,
    timeoutMs: 20_000,
    signal,
    log,
  });
  if (
    outcome.kind === 'failed' &&
    /^(sign-in-needed|http-unauthorized)$/.test(outcome.failure.code)
  )
    return false;
  if (outcome.kind !== 'connected') throw new Error(JSON.stringify(outcome));
  const { connection, listing } = outcome;
  try {
    if (listsAlone.includes(scenario)) return true;
    for (const each of context.toolCalls ?? listing.tools.map(callOf)) {
      if (!(await call(connection, each))) return false;
    }
    for (const { uri } of listing.resources?.resources ?? [])
      await request(connection, 'resources/read', { uri });
    for (const { name } of listing.prompts?.prompts ?? [])
      await request(connection, 'prompts/get', { name });
  } finally {
    await connection.close();
  }
  return true;
}

function callOf({ name }: { readonly name: string }): ToolCall {
  return { name, arguments: name === 'add_numbers' ? { a: 5, b: 3 } : {} };
}

async function call(
  connection: Connection,
  { name, arguments: input }: ToolCall,
): Promise<boolean> {
  const outcome = await connection.callTool({
    tool: name,
    arguments: input,
    meta: undefined,
    timeouts: { call: 20_000, callMax: 20_000 },
    signal,
    onProgress: () => {},
    client,
  });
  if (outcome.kind === 'result') return true;
  const status = oauth.statusOf(launch);
  if (status.kind === 'needed' || (status.kind === 'signedIn' && status.lacks !== undefined))
    return false;
  throw new Error(JSON.stringify(outcome));
}

async function request(connection: Connection, method: string, params: Fields): Promise<void> {
  const timeouts = { call: 20_000, callMax: 20_000 };
  const outcome = await connection.request({
    method,
    params,
    meta: undefined,
    timeouts,
    signal,
    client,
  });
  if (outcome.kind !== 'result') throw new Error(JSON.stringify(outcome));
}

async function main(): Promise<void> {
  launch = { ...launch, oauth: await settings() };
  if (knownScenarios.includes(scenario)) eras.of(launchHashOf(launch, false)).onSeen('modern');
  for (let signIns = 0; !(await use()); signIns++) {
    if (signIns === mostSignIns) throw new Error('Signed in again and again');
    await oauth.signIn(launch, new Person(), signal);
  }
}

async function toItsEnd(): Promise<void> {
  try {
    await main();
  } finally {
    await connector.dispose();
    oauth.dispose();
  }
}

toItsEnd().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
