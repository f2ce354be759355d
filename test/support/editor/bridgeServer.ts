/**
 * The outside end of the bridge, one per editor. It keeps no test state. Events go to
 * `onTestEvent`, page requests to the current page, and work to the extension host that asks for
 * it.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  HostAnswer,
  HostIntroduction,
  HostWork,
  NextSuite,
  PageRequest,
  TestEvent,
} from './bridgeProtocol.ts';
import { ExtensionHost } from './extensionHost.ts';
import type { ProcessEntry } from './processes.ts';

/** The suites of a window with tests. */
export interface SuitesInTurn {
  next(): Promise<NextSuite | null>;
  begin(): Promise<void>;
  onTestEvent(event: TestEvent): void;
}

export interface BridgeRoles {
  desktop: boolean;
  suites?: SuitesInTurn | undefined;
  page(request: PageRequest): Promise<unknown>;
  processes(): ProcessEntry[];
}

export class BridgeServer {
  readonly #token = randomBytes(16).toString('hex');
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #hosts = new Map<string, ExtensionHost>();
  readonly #waiting = new Set<() => void>();
  readonly roles: BridgeRoles;

  constructor(roles: BridgeRoles) {
    this.roles = roles;
  }

  /** @returns the address for the editor's environment */
  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${this.#token}`;
  }

  async close(): Promise<void> {
    for (const host of this.#hosts.values()) host.disconnect();
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** The live extension hosts of the windows with `target`. */
  hosts(target: string): ExtensionHost[] {
    return [...this.#hosts.values()].filter((host) => host.target === target && host.connected);
  }

  /**
   * A live extension host of a window with `target`, once its remote control has reported.
   * @param known hosts to ignore
   * @param limitMs time limit; absent means forever
   */
  async nextHost(
    target: string,
    known: ReadonlySet<ExtensionHost>,
    limitMs?: number,
  ): Promise<ExtensionHost> {
    const limit = limitMs === undefined ? undefined : AbortSignal.timeout(limitMs);
    for (;;) {
      const host = this.hosts(target).find((candidate) => !known.has(candidate));
      if (host) return host;
      if (limit?.aborted)
        throw new Error(`No extension host reported for ${target} within ${limitMs} ms`);
      await new Promise<void>((done) => {
        this.#waiting.add(done);
        limit?.addEventListener('abort', () => done(), { once: true });
      });
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token, ...path] = (request.url ?? '').split('/');
    if (token !== this.#token) {
      response.writeHead(404).end();
      return;
    }
    try {
      const message = JSON.parse(await bodyOf(request)) as never;
      const answer = await this.#answer(path.join('/'), message, response);
      if (!response.destroyed) response.end(JSON.stringify(answer ?? null));
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.message : String(error));
    }
  }

  async #answer(path: string, message: unknown, response: ServerResponse): Promise<unknown> {
    switch (path) {
      case 'about':
        return { desktop: this.roles.desktop };
      case 'nextSuite':
        return this.roles.suites?.next();
      case 'beginSuite':
        return this.roles.suites?.begin();
      case 'report':
        return this.roles.suites?.onTestEvent(message as TestEvent);
      case 'page':
        return this.roles.page(message as PageRequest);
      case 'processes':
        return this.roles.processes();
      case 'host/work':
        return this.#work(message as HostIntroduction, response);
      case 'host/answer': {
        const { hostId, ...answer } = message as HostAnswer & { hostId: string };
        return this.#hosts.get(hostId)?.settle(answer);
      }
      default:
        throw new Error(`The bridge knows no ${path}`);
    }
  }

  #work(introduction: HostIntroduction, response: ServerResponse): Promise<HostWork | null> {
    let host = this.#hosts.get(introduction.hostId);
    if (!host) {
      host = new ExtensionHost(introduction);
      this.#hosts.set(introduction.hostId, host);
      for (const wake of this.#waiting) wake();
      this.#waiting.clear();
    }
    // A host always has one request open, so a broken request means the host is gone.
    response.once('close', () => {
      if (!response.writableFinished) host.disconnect();
    });
    return host.nextWork();
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
