/**
 * Signs a person in to MCP servers and out again (X7). A browser opens only by these commands and
 * the button of a message.
 */
import { english, said, translated } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { unlessAborted } from '../../core/base/events.js';
import { inert } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';
import { commands, window } from '../views/inertEditor.js';
import type {
  Redirect,
  SignInBrowser,
  SignInParties,
} from '../../core/connections/http/oauth/contract.js';
import type { Shell } from '../engine/shell.js';
import { serverOf, type Subject } from '../views/rows/subject.js';
import { SignInNews } from './signInNews.js';

const extensionId = 'minds.mcp-toolsets';
const returnPath = '/signed-in';

export function registerSignIn({ slot, logs }: Shell): vscode.Disposable {
  const news = new SignInNews();
  /**
   * The present sign-ins. Another attempt ends the earlier one, because the person may have closed
   * its page.
   */
  const running = new Map<string, AbortController>();
  /** The sign-ins whose browser comes back to the editor, by their states. */
  const waiting = new Map<string, (parameters: URLSearchParams) => void>();

  return vscode.Disposable.from(
    vscode.window.registerUriHandler({
      handleUri: ({ path, query }) => {
        const parameters = new URLSearchParams(query);
        const state = parameters.get('state') ?? '';
        if (path === returnPath) waiting.get(state)?.(parameters);
        waiting.delete(state);
      },
    }),
    commands({ signIn, signOut }),
    slot.onDidChange(({ snapshot }) => {
      for (const id of news.of(snapshot.servers)) if (!running.has(id)) void tellOf(id);
    }),
  );

  async function waitForReturn(port: number | undefined, isFixed: boolean): Promise<Redirect> {
    // The browser of a web editor may not reach ports of the extension host, but it reaches the
    // editor's address.
    if (vscode.env.uiKind !== vscode.UIKind.Web || isFixed) return await listen(port, isFixed);
    return {
      url: await external(`${vscode.env.uriScheme}://${extensionId}${returnPath}`),
      port: undefined,
      comesBack: (state, signal) =>
        unlessAborted(new Promise((resolve) => waiting.set(state, resolve)), signal),
      close: () => Promise.resolve(),
    };
  }

  async function tellOf(server: string): Promise<void> {
    const text = inert`The MCP server “${server}” wants you to sign in.`;
    const answer = await window.showInformationMessage(text, 'Sign In');
    if (answer !== undefined) await signIn(server);
  }

  async function signIn(subject: Subject): Promise<void> {
    const server = serverOf(subject);
    const host = slot.engine?.host;
    if (server === undefined || !host) return;
    news.signsIn(server);
    running.get(server)?.abort();
    const own = new AbortController();
    running.set(server, own);
    const title = inert`Signing in to ${server}: continue in your browser`;
    const location = vscode.ProgressLocation.Notification;
    try {
      await window.withProgress(
        {
          location,
          title,
          cancellable: true,
        },
        async (progress, cancelled) => {
          const subscription = cancelled.onCancellationRequested(() => own.abort());
          const browser: SignInBrowser = {
            waitForReturn,
            show: (url, { page, server: address }) => {
              progress.report({
                message: inert`You sign in at ${page}. The token goes to ${address}.`,
              });
              return show(url);
            },
            confirm: async (parties) => {
              const agrees = await confirm(server, parties);
              if (!agrees) own.abort();
              return agrees;
            },
          };
          await host.signIn(server, browser, own.signal).finally(() => subscription.dispose());
        },
      );
    } catch (error) {
      if (own.signal.aborted) return;
      const text = said`Signing in to ${server}: ${translated(messageOf(error))}`;
      logs.host.write('error', text);
      const answer = await window.showErrorMessage(inert`${text}`, 'Try Again', 'Show Log');
      if (answer === 'Try Again') await signIn(server);
      if (answer === 'Show Log') logs.show(server);
    } finally {
      if (running.get(server) === own) running.delete(server);
    }
  }

  async function signOut(subject: Subject): Promise<void> {
    const server = serverOf(subject);
    if (server === undefined) return;
    news.signsOut(server);
    await slot.engine?.host.signOut(server);
  }
}

/** All addresses are short, so each is in sight. */
async function confirm(server: string, parties: SignInParties): Promise<boolean> {
  const { page, tokens, server: address, issuer, elsewhere } = parties;
  const detail = inert`You sign in at: ${page}
Your consent is redeemed by: ${tokens}
The token goes to: ${address}

The authorization server ${issuer} names addresses of another site (${elsewhere.join(', ')}), and nothing shows that they belong together. Go on only if you know that they do.`;
  const question = inert`Sign in at ${page} for the MCP server “${server}”?`;
  return (
    (await window.showWarningMessage(question, { modal: true, detail }, 'Sign In')) !== undefined
  );
}

async function show(url: URL): Promise<void> {
  // As text, because a `Uri` loses the escapes of its query on the way to the browser.
  const opened = await vscode.env.openExternal(url.href as unknown as vscode.Uri);
  if (!opened) throw new Error(english`The sign-in page was not opened.`);
}

/**
 * Listens on a port of this machine. For a browser on another machine, the editor forwards the
 * port.
 */
async function listen(port: number | undefined, isFixed: boolean): Promise<Redirect> {
  const { listenForRedirect } = await import('../../core/connections/http/oauth/redirect.js');
  return listenForRedirect(port, isFixed, async (local) => new URL(await external(local.href)));
}

async function external(address: string): Promise<string> {
  return (await vscode.env.asExternalUri(vscode.Uri.parse(address))).toString(true);
}
