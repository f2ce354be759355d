/**
 * A person with a browser: follows redirects and keeps cookies. This is enough for a sign-in if the
 * pages of the authorization server ask nothing. Also a store for secrets like the editor's.
 */
import { request, type IncomingHttpHeaders } from 'node:http';
import { Emitter } from '../../../src/core/base/events.js';
import { OneByOne } from '../../../src/core/base/oneByOne.js';
import type {
  Redirect,
  SignInStore,
  SignInBrowser,
  SignInParties,
  SignInStatus,
} from '../../../src/core/connections/http/oauth/contract.js';
import { listenForRedirect } from '../../../src/core/connections/http/oauth/redirect.js';

export class Person implements SignInBrowser {
  readonly shown: URL[] = [];
  /** The text of the last page. */
  lastPage = '';
  /** The browser does not reach addresses with this path. */
  stopsBefore: string | undefined;
  /** The address that it did not reach. */
  stopped = '';
  /** If false, the person closes the browser instead of following pages. */
  follows = true;

  /** The questions for the person's consent. */
  readonly asked: SignInParties[] = [];
  agrees = true;

  confirm(parties: SignInParties): Promise<boolean> {
    this.asked.push(parties);
    return Promise.resolve(this.agrees);
  }

  waitForReturn(port: number | undefined, isFixed: boolean): Promise<Redirect> {
    return listenForRedirect(port, isFixed);
  }

  async show(url: URL): Promise<void> {
    this.shown.push(url);
    if (!this.follows) return;
    const cookies = new Map<string, string>();
    for (let target = url, hops = 0; hops < 20; hops++) {
      if (target.pathname === this.stopsBefore) {
        this.stopped = target.href;
        return;
      }
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const reply = await ask('GET', target, cookie === '' ? {} : { cookie });
      for (const line of reply.headers['set-cookie'] ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const { location } = reply.headers;
      this.lastPage = reply.body;
      if (location === undefined) return;
      target = new URL(location, target);
    }
    throw new Error(`Redirects without end from ${url.href}`);
  }
}

/** Any number of windows may share it. */
export class Secrets implements SignInStore {
  readonly values = new Map<string, string>();
  private readonly changes = new Emitter<{ readonly key: string }>();
  readonly onDidChange = this.changes.event;
  private readonly steps = new OneByOne();

  exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.steps.add(key, work);
  }

  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.values.get(key));
  }

  store(key: string, value: string): Promise<void> {
    this.values.set(key, value);
    queueMicrotask(() => this.changes.fire({ key }));
    return Promise.resolve();
  }

  delete(key: string): Promise<void> {
    this.values.delete(key);
    queueMicrotask(() => this.changes.fire({ key }));
    return Promise.resolve();
  }
}

/** The kind of a sign-in, and the rights that calls lacked. */
export function whatIsLacking(status: SignInStatus): unknown[] {
  return [status.kind, status.kind === 'signedIn' ? status.lacks : undefined];
}

/** One request on a separate socket. */
export function ask(
  method: 'GET' | 'POST',
  url: URL,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<{ readonly headers: IncomingHttpHeaders; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ headers: response.headers, body: text }));
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Makes a fixture `oauth` do something. See its header. */
export async function control(server: string, what: string): Promise<unknown> {
  const { body } = await ask('POST', new URL('/control', server), {}, JSON.stringify(what));
  return JSON.parse(body);
}

/** The authorization server named by a server. A client secret may be meant for it. */
export async function issuerOf(server: string): Promise<string> {
  const { pathname } = new URL(server);
  const { body } = await ask(
    'GET',
    new URL(`/.well-known/oauth-protected-resource${pathname}`, server),
    {},
  );
  const { authorization_servers: issuers } = JSON.parse(body) as {
    readonly authorization_servers: readonly string[];
  };
  return issuers[0] ?? '';
}
