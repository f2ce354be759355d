/**
 * `mcp-toolsets login` and `logout` (X7e). Instructions go to stderr, and only the results to
 * stdout.
 */
import { unlessAborted } from '../core/base/events.js';
import { messageOf } from '../core/base/text.js';
import { isEnabled, type ConfiguredServer } from '../core/config/model.js';
import {
  SignInFailure,
  type Redirect,
  type SignInBrowser,
  type SignInParties,
} from '../core/connections/http/oauth/contract.js';
import { listenForRedirect } from '../core/connections/http/oauth/redirect.js';
import { readConfig } from './configFile.js';
import type { Options, Words } from './options.js';
import { complain, complainLines, complainOf, print, toJson } from './output.js';
import { hasBrowser, openBrowser } from './personsBrowser.js';
import { inOrder } from './render.js';
import { agreesOnTerminal, hiddenOnTerminal, isTerminal } from './terminalQuestion.js';
import { withEngine, type Run, type RunningEngine } from './withEngine.js';

/** @param names the ids of servers; without names, all that need a sign-in */
export async function login(run: Run, names: Words, options: Options): Promise<number> {
  const servers = serversOf(run, names);
  if (!servers) return 1;
  const opens = !options['no-browser'] && hasBrowser();
  const signedIn: object[] = [];
  let code = 0;
  const wanted = (one: ConfiguredServer): boolean =>
    names.length === 0 ? isRemote(one) : names.includes(one.id);
  for (const { id } of servers.filter(wanted)) {
    const isNamed = names.includes(id);
    const use = async (running: RunningEngine): Promise<number> => {
      const status = await signInTo(id, isNamed, opens, running);
      if (typeof status === 'number') return status;
      signedIn.push({ server: id, ...status });
      return 0;
    };
    // Only this server starts.
    const ended = await withEngine({ ...run, only: id, looks: true, warns: true }, use);
    if (ended > 1) return ended;
    code = Math.max(code, ended);
  }
  if (run.json) print(toJson(signedIn));
  else if (code === 0 && names.length === 0 && signedIn.length === 0)
    print('No server needs a sign-in.');
  return code;
}

export async function logout(run: Run, [name = '']: Words): Promise<number> {
  if (!serversOf(run, [name])) return 1;
  return await withEngine(
    {
      ...run,
      only: name,
      asks: false,
      approve: false,
      looks: true,
      warns: true,
    },
    async ({ host, start, signIns }) => {
      // It makes the server known. Signing out ends its start.
      void start().catch(() => undefined);
      try {
        await signIns.storing(() => host.signOut(name));
      } catch (error) {
        return complain(`Signing out of "${name}" failed: ${messageOf(error)}`);
      }
      return run.json ? print('{}') : print(`Signed out of ${name}.`);
    },
  );
}

/** Undefined after a complaint about the files or a name. */
function serversOf(run: Run, names: Words): readonly ConfiguredServer[] | undefined {
  const { servers, problems } = readConfig(run);
  const wrong = problems.filter(
    ({ severity, server }) =>
      severity === 'error' &&
      (server === undefined ? names.length === 0 || servers.length === 0 : names.includes(server)),
  );
  complainOf(inOrder(wrong));
  const unknown = names.filter((name) => !servers.some(({ id }) => id === name));
  for (const name of unknown) complain(`There is no server "${name}".`);
  return wrong.length > 0 || unknown.length > 0 ? undefined : servers;
}

function isRemote(server: ConfiguredServer): boolean {
  return (
    server.kind === 'valid' &&
    isEnabled(server) &&
    server.definition.launch.transport === 'streamable_http'
  );
}

/** Resolves to the new sign-in, or to an exit code without one. */
async function signInTo(
  id: string,
  isNamed: boolean,
  opens: boolean,
  { host, start, signal, signIns }: RunningEngine,
): Promise<number | { since?: number | undefined; scopes?: string | undefined }> {
  await start();
  const statusNow = () => host.snapshot.servers.find((server) => server.id === id);
  const { state, signIn } = statusNow() ?? {};
  if (state?.kind === 'pending') return 1;
  // A program may sign in instead of a person, and other causes have another fix.
  const ofPerson = signIn?.fix === undefined ? signIn : undefined;
  const isSignedIn = ofPerson?.kind === 'signedIn';
  if (!ofPerson || (isSignedIn && ofPerson.lacks === undefined)) {
    if (!isNamed) return 0;
    if (isSignedIn) return print(`${id} is signed in. \`mcp-toolsets logout ${id}\` ends it.`);
    complainOf(inOrder(host.snapshot.problems.filter(({ server }) => server === id)));
    return state?.kind === 'running' ? print(`${id} needs no sign-in.`) : 1;
  }
  const browser = browserFor(id, opens, signal);
  try {
    await signIns.beginning(complain, () => host.signIn(id, browser, signal));
  } catch (error) {
    return signal.aborted ? 1 : complain(`Signing in to "${id}" failed: ${messageOf(error)}`);
  }
  const after = statusNow()?.signIn;
  const { since, scopes } = after?.kind === 'signedIn' ? after : {};
  complain(`Signed in to ${id}${scopes === undefined ? '' : ` for ${scopes}`}.`);
  return { since, scopes };
}

/** @param signal aborts when the person interrupts the command */
function browserFor(id: string, opens: boolean, signal: AbortSignal): SignInBrowser {
  let onShown = (): void => {};
  const shown = new Promise<void>((resolve) => (onShown = resolve));
  return {
    confirm: (parties) => agreesOnTerminal(questionOf(id, parties), signal),
    waitForReturn: async (port, isFixed) => {
      const redirect = await listenForRedirect(port, isFixed);
      return opens ? redirect : orPasted(redirect, shown);
    },
    show: async (url, { page, server }) => {
      complain(`You sign in to ${id} at ${page}. The token goes to ${server}.`);
      const isOpen = opens && (await openBrowser(url));
      const how = isOpen ? 'Your browser opens. If it does not, open' : 'Open';
      complainLines(`${how} this address:\n\n${url.href}\n`);
      onShown();
    },
  };
}

function questionOf(id: string, parties: SignInParties) {
  const { page, tokens, server, issuer, elsewhere } = parties;
  return {
    review: `You sign in at: ${page}
Your consent is redeemed by: ${tokens}
The token goes to: ${server}

The authorization server ${issuer} names addresses of another site (${elsewhere.join(', ')}), and nothing shows that they belong together. Go on only if you know that they do.`,
    about: [`${id}: ${page}`],
    question: `Sign in there for "${id}"?`,
  };
}

/**
 * The browser of another machine does not reach the listener here, so the person may bring the
 * answer.
 */
function orPasted(redirect: Redirect, shown: Promise<void>): Redirect {
  return {
    ...redirect,
    comesBack: async (state, signal) => {
      const settled = new AbortController();
      const over = AbortSignal.any([signal, settled.signal]);
      const came = redirect.comesBack(state, over);
      const typed = shown.then(() => pasted(redirect.url, state, over));
      typed.catch(() => undefined);
      came.catch(() => undefined);
      try {
        return await Promise.race([came, typed]);
      } finally {
        settled.abort();
      }
    },
  };
}

async function pasted(
  redirectUrl: string,
  state: string,
  signal: AbortSignal,
): Promise<URLSearchParams> {
  if (!isTerminal()) return await unlessAborted(new Promise<never>(() => {}), signal);
  complainLines(
    `At the end, your browser goes to an address that begins with ${redirectUrl}, and may show an error there.`,
  );
  for (;;) {
    const text = await hiddenOnTerminal('Paste this address (it is not shown): ', signal);
    signal.throwIfAborted();
    if (text.trim() === '') throw new SignInFailure('No address was pasted.');
    const parameters = parametersOf(text, redirectUrl, state);
    if (parameters) return parameters;
    complain('This is not the address at the end of this sign-in.');
  }
}

/** Undefined for an address of another sign-in (RFC 6749, section 10.12). */
function parametersOf(text: string, url: string, state: string): URLSearchParams | undefined {
  // A terminal may put marks around what was pasted.
  const address = text.replaceAll(/\[20[01]~/g, '').trim();
  if (!URL.canParse(address)) return undefined;
  const { origin, pathname, searchParams } = new URL(address);
  const wanted = new URL(url);
  const isHere = origin === wanted.origin && pathname === wanted.pathname;
  return isHere && searchParams.get('state') === state ? searchParams : undefined;
}
