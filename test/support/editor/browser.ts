/** One headless Chromium for the whole run, started when the first window needs it. */
import { chromium, type Browser } from 'playwright-core';
import { onEnd } from './cleanup.ts';

let running: Promise<Browser> | undefined;

export function sharedBrowser(executablePath: string): Promise<Browser> {
  return (running ??= start(executablePath));
}

async function start(executablePath: string): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath,
    // Signals are ours: the editor has to be told before the browser goes.
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
      // Otherwise the first error that is made anywhere in the workbench has its 19 MB parsed a second time.
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

/** Ends the browser, if one runs. */
export async function closeSharedBrowser(): Promise<void> {
  const browser = await running?.catch(() => undefined);
  await browser?.close();
}
