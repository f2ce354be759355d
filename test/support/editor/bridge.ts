/**
 * Requests from a test inside the extension host to the run that started its editor: use the page,
 * list processes. Suites outside have the window itself (`launch.ts`).
 */
import { request } from 'node:http';
import type { Context } from 'mocha';
import {
  bridgeVariable,
  type BridgeCalls,
  type PageImage,
  type PageRequest,
} from './bridgeProtocol.ts';

/** The root of this repository. */
export const repoRoot = process.env['MCP_TOOLSETS_TEST_ROOT'] ?? '';

/** Sends one message. Rejects with the error of the other side. */
export function call<Name extends keyof BridgeCalls>(
  name: Name,
  message: BridgeCalls[Name]['message'],
): Promise<BridgeCalls[Name]['answer']> {
  return new Promise((done, failed) => {
    const post = request(
      `${process.env[bridgeVariable]}/${name}`,
      { method: 'POST' },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => (body += chunk));
        response.on('error', failed);
        response.on('end', () =>
          response.statusCode === 200 ? done(JSON.parse(body)) : failed(new Error(body)),
        );
      },
    );
    post.on('error', failed);
    post.end(JSON.stringify(message));
  });
}

/**
 * Skips the running test on the desktop, because no page is available there. The run counts and
 * names it. Call it first in a test or hook that uses `page`.
 */
export async function needsPage(context: Context): Promise<void> {
  if ((await call('about', {})).desktop) {
    if (context.test) context.test.title += ' [needs the page: skipped on the desktop]';
    context.skip();
  }
}

/**
 * The page of this window. Selectors are Playwright's. Each action waits up to a minute for its
 * element.
 */
export const page = {
  /** Writes `<name>.png` to the suite's folder of results. */
  screenshot: (name: string) => perform({ do: 'screenshot', name }),
  click: (selector: string, options: { button?: 'left' | 'right'; double?: boolean } = {}) =>
    perform({ do: 'click', selector, ...options }),
  hover: (selector: string) => perform({ do: 'hover', selector }),
  /** Turns the wheel over it by a number of pixels. Negative numbers scroll up. */
  scroll: (selector: string, down: number) => perform({ do: 'scroll', selector, down }),
  /** One chord, such as `Control+Shift+P` or `Enter`. */
  press: (keys: string) => perform({ do: 'press', keys }),
  type: (text: string) => perform({ do: 'type', text }),
  /** Replaces the value of an input at once. */
  fill: (selector: string, text: string) => perform({ do: 'fill', selector, text }),
  waitFor: (selector: string, state: 'visible' | 'hidden' = 'visible') =>
    perform({ do: 'waitFor', selector, state }),
  /** The visible text of each matching element now. */
  texts: (selector: string) => perform({ do: 'texts', selector }) as Promise<string[]>,
  /** The real picture of each matching `<img>`. */
  images: (selector: string) => perform({ do: 'images', selector }) as Promise<PageImage[]>,
  /**
   * The violations axe finds in the document of the first matching element: a rule and its elements
   * for each.
   */
  axe: (selector: string) => perform({ do: 'axe', selector }) as Promise<string[]>,
  /** First lines of the errors on the console so far, without the errors of every window. */
  consoleErrors: () => perform({ do: 'consoleErrors' }) as Promise<string[]>,
};

/** The processes of this editor's extensions, with all descendants. */
export const processes = () => call('processes', {});

function perform(request: PageRequest): Promise<unknown> {
  return call('page', request);
}
