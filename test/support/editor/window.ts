/** One window of an editor: its page, its extension host, its end. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type * as Axe from 'axe-core';
import type { ConsoleMessage, Page } from 'playwright-core';
import type * as vscode from 'vscode';
import { approveCalls } from './approveCalls.ts';
import type { PageRequest } from './bridgeProtocol.ts';
import { work } from '../core/within.ts';
import { helperFolder } from './extensions.ts';
import type { ExtensionHost } from './extensionHost.ts';
import type { Editor, WindowOptions } from './launch.ts';
import { repoRoot } from '../npm.mjs';
import { isAlive, waitUntil } from './processes.ts';
import { hangLimitMs } from './versions.ts';

/** For an element or a state, in milliseconds. */
const actionLimit = 60_000;

/**
 * Errors of every window of the server form: native parts are not built, and the marketplace may be
 * unreachable.
 */
const expectedError =
  /spdlog|watchdog|bindings file|open-vsx\.org|vsda|Failed to load resource|fetching the script|\[Service Worker\]|\[lifecycle\]/;

export class EditorWindow {
  /**
   * Settles with the exit code of the tests in this window. Never settles in a window without
   * tests.
   */
  readonly testsEnded: Promise<number>;
  /** First lines of the page's console errors, without the errors of every window. */
  readonly consoleErrors: string[] = [];
  /** All console lines, for a person who examines a failure. */
  readonly consoleLines: string[] = [];
  #endTests!: (code: number) => void;
  #failTests!: (error: Error) => void;
  #host: ExtensionHost | undefined;
  /** Extension hosts of the same folder in another window, or in this window before a reload. */
  readonly #others: Set<ExtensionHost>;
  #closed: Promise<void> | undefined;

  private constructor(
    readonly editor: Editor,
    readonly target: string,
    /** For features without a method here. */
    readonly page: Page,
  ) {
    this.#others = new Set(editor.bridge.hosts(target));
    this.testsEnded = new Promise((done, failed) => {
      this.#endTests = done;
      this.#failTests = failed;
    });
    this.testsEnded.catch(() => undefined);
  }

  /** Use `editor.openWindow`. */
  static async open(editor: Editor, target: string, options: WindowOptions): Promise<EditorWindow> {
    const page = await editor.context.newPage();
    const window = new EditorWindow(editor, target, page);
    page.setDefaultTimeout(actionLimit);
    page.on('console', (message) => window.#onConsole(message));
    page.on('pageerror', (error) => window.consoleErrors.push(String(error.stack ?? error)));
    page.on('crash', () => window.#failTests(new Error('The page crashed')));
    page.on('close', () => window.#failTests(new Error('The window was closed')));
    page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined));
    await page.exposeFunction('codeAutomationLog', (type: string, args: unknown[]) => {
      window.consoleLines.push(`[${type}] ${args.map(String).join(' ')}`);
    });
    await page.exposeFunction('codeAutomationExit', (code: number) => window.#endTests(code));
    await work('the start of a window', async () => {
      await page.goto(addressWithPayload(editor, target, options), { timeout: hangLimitMs });
      await page.waitForSelector('.monaco-workbench', { timeout: hangLimitMs });
    });
    return window;
  }

  /** The extension host of this window, once it runs. */
  async host(): Promise<ExtensionHost> {
    if (!this.#host?.connected) this.#host = await this.#nextHost();
    return this.#host;
  }

  /** Runs a function in the extension host, see `ExtensionHost.evaluate`. */
  evaluate: ExtensionHost['evaluate'] = async (work, ...argument) =>
    (await this.host()).evaluate(work, ...argument);

  /** Resolves when the command has ended. */
  command(id: string, ...given: unknown[]): Promise<void> {
    return this.evaluate(
      async (api, all) => void (await api.commands.executeCommand(all.id, ...all.given)),
      { id, given },
    );
  }

  /**
   * Evaluates repeatedly until the answer satisfies `until`. Rejects with the last answer after
   * `limitMs`.
   */
  async waitFor<Result>(
    work: (api: typeof vscode) => Result | PromiseLike<Result>,
    until: (result: Result) => boolean,
    limitMs = actionLimit,
  ): Promise<Result> {
    const limit = Date.now() + limitMs;
    for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, 100)) {
      const result = await this.evaluate<Result>(work);
      if (until(result)) return result;
      if (Date.now() > limit)
        throw new Error(`Not within ${limitMs} ms; last: ${JSON.stringify(result)}`);
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }

  /** Invokes a tool as an extension does. Resolves with the text of its result. */
  async invokeTool(tool: string, input: object = {}): Promise<string> {
    return await this.evaluate(
      async ({ lm }, [name, given]) => {
        const { content } = await lm.invokeTool(name as string, {
          input: given as object,
          toolInvocationToken: undefined,
        });
        return content.map((part) => (part as { value?: unknown }).value).join();
      },
      [tool, input] as const,
    );
  }

  approveCalls(): Promise<void> {
    return this.evaluate(approveCalls);
  }

  /**
   * Reloads the window as a person does, and waits for its new extension host. @param begin
   * resolves when the page has loaded
   */
  async reload(
    begin: () => Promise<unknown> = () => this.page.reload({ timeout: hangLimitMs }),
  ): Promise<ExtensionHost> {
    this.#others.add(this.#host ?? (await this.host()));
    await work('the reload of a window', async () => {
      await begin();
      await this.page.waitForSelector('.monaco-workbench', { timeout: hangLimitMs });
    });
    return (this.#host = await this.#nextHost());
  }

  /**
   * Kills the extension host without a cleanup. The server form keeps trying to reconnect to it. A
   * `reload()` starts another one.
   */
  async killExtensionHost(): Promise<void> {
    const host = await this.host();
    process.kill(host.pid, 'SIGKILL');
    await host.ended;
  }

  /** Writes `<outputDir>/<name>.png`. */
  async screenshot(name: string): Promise<string> {
    const path = join(this.editor.options.outputDir, `${name}.png`);
    await mkdir(dirname(path), { recursive: true });
    await this.page.screenshot({ path });
    return path;
  }

  /** Serves a request of a test inside the extension host. */
  async perform(request: PageRequest): Promise<unknown> {
    const { page } = this;
    switch (request.do) {
      case 'screenshot':
        return this.screenshot(request.name);
      case 'click': {
        const clickCount = request.double ? 2 : 1;
        return page
          .locator(request.selector)
          .first()
          .click({ button: request.button ?? 'left', clickCount });
      }
      case 'hover':
        return page.locator(request.selector).first().hover();
      case 'scroll':
        await page.locator(request.selector).first().hover();
        return page.mouse.wheel(0, request.down);
      case 'press':
        return page.keyboard.press(request.keys);
      case 'type':
        return page.keyboard.type(request.text);
      case 'fill':
        return page.locator(request.selector).first().fill(request.text);
      case 'waitFor':
        return void (await page
          .locator(request.selector)
          .first()
          .waitFor({ state: request.state }));
      case 'texts':
        return page.locator(request.selector).allInnerTexts();
      case 'images':
        return page.locator(request.selector).evaluateAll((found) =>
          (found as unknown as { src: string; naturalWidth: number; naturalHeight: number }[]).map(
            ({ src, naturalWidth, naturalHeight }) => ({
              src,
              width: naturalWidth,
              height: naturalHeight,
            }),
          ),
        );
      case 'axe':
        return violations(page, request.selector);
      case 'consoleErrors':
        return this.consoleErrors;
    }
  }

  /** Closes the window as a person does, and waits until its extension host has ended. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const { windows, bridge } = this.editor;
    const hosts = this.#host
      ? [this.#host]
      : bridge.hosts(this.target).filter((host) => !this.#others.has(host));
    // With a navigation the workbench says goodbye to the server. With a close of the page it does
    // not.
    await this.page.goto('about:blank').catch(() => undefined);
    await this.page.close().catch(() => undefined);
    windows.splice(windows.indexOf(this), 1);
    for (const { pid } of hosts) await waitUntil(() => !isAlive(pid), actionLimit);
  }

  #nextHost(): Promise<ExtensionHost> {
    const { bridge } = this.editor;
    return work('the start of an extension host', () =>
      bridge.nextHost(this.target, this.#others, hangLimitMs),
    );
  }

  #onConsole(message: ConsoleMessage): void {
    const line = `[${message.type()}] ${message.text()}`;
    this.consoleLines.push(line);
    // The workbench colours its messages, in the syntax of the console.
    const [text = ''] = message.text().replaceAll('%c', '').split('\n');
    if (message.type() === 'error' && !expectedError.test(text)) this.consoleErrors.push(text);
  }
}

async function violations(page: Page, selector: string): Promise<string[]> {
  const frame = await (await page.locator(selector).first().elementHandle())?.ownerFrame();
  if (!frame) throw new Error(`Nothing is at ${selector}`);
  const { source } = (await import('axe-core')).default;
  await frame.evaluate(source);
  const found = await frame.evaluate(() =>
    // The page's policy forbids loading, and the preparation of style sheets would load.
    (globalThis as unknown as { axe: typeof Axe }).axe.run({ preload: false }),
  );
  return found.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}

function addressWithPayload(editor: Editor, target: string, { testsPath }: WindowOptions): string {
  const { options, server } = editor;
  const remote = `vscode-remote://${new URL(server.origin).host}`;
  const payload: [string, string][] = [['skipWelcome', 'true']];
  const product = (options.product ?? 'development') === 'development' ? repoRoot : undefined;
  // Tests run only beside an extension under development, so there must be one.
  const development =
    options.developmentPath ?? product ?? (testsPath ? helperFolder('remote-control') : undefined);
  if (development) payload.push(['extensionDevelopmentPath', remote + development]);
  if (testsPath) payload.push(['extensionTestsPath', remote + testsPath]);
  return `${editor.addressOf(target)}&payload=${encodeURIComponent(JSON.stringify(payload))}`;
}
