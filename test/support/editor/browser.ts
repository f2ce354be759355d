/** One headless Chromium for the whole run, started with the first window. */
import { chromium, type Browser } from 'playwright-core';
import { onEnd } from './cleanup.ts';
import { hangLimitMs } from './versions.ts';

let running: Promise<Browser> | undefined;

export function sharedBrowser(executablePath: string): Promise<Browser> {
  running ??= start(executablePath).catch((error: unknown) => {
    // The next window tries again.
    running = undefined;
    throw error;
  });
  return running;
}

async function start(executablePath: string): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath,
    timeout: hangLimitMs,
    // The run handles signals, because the editor must be notified before the browser ends.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
      // Otherwise the first error made in the workbench parses its 19 MB a second time.
      '--js-flags=--no-enable-lazy-source-positions',
    ],
  });
  const close = onEnd(() => browser.close());
  browser.once('disconnected', () => {
    running = undefined;
    void close();
  });
  return browser;
}

/** Ends the browser, if it runs. */
export async function closeSharedBrowser(): Promise<void> {
  const browser = await running?.catch(() => undefined);
  await browser?.close();
}
