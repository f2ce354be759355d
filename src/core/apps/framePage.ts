/**
 * Makes the page around an app (G8). The app is foreign and may be hostile: it runs in a frame of an origin that is like
 * no other, which cannot open windows, leave its place, download or ask the person anything, under the policy of the page
 * around it, which frames inherit. That page only passes messages on, between its frame and the panel. Everything here is
 * pure.
 */
import type { AppPage } from './appResource.js';
import { contentSecurityPolicy } from './csp.js';
import { withHeadScript } from './headScript.js';

/** Which page is shown: what one says is not taken for the words of the next in its place, and is not told to it. */
interface FrameOptions {
  /** Letters, digits and dashes, another for each page. */
  readonly mark: string;
  /** Whether the server of the app runs on this machine; else its page has nothing to do with what runs there. */
  readonly isOfThisMachine: boolean;
}

/** A message between a page and the panel. */
export interface Marked {
  readonly page: string;
  readonly message: unknown;
}

/** @returns HTML for a webview that may run scripts and has no resources; it says and hears what is `Marked` */
export function framePage({ html, ui }: AppPage, { mark, isOfThisMachine }: FrameOptions): string {
  const { policy } = contentSecurityPolicy(ui, isOfThisMachine);
  return `<!doctype html>
<html lang="en" style="height: 100%">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <title>App</title>
  </head>
  <body style="height: 100%; margin: 0; padding: 0; overflow: hidden">
    <script>${relay(mark)}</script>
    <iframe id="app" title="App" sandbox="allow-scripts allow-forms" allow="" referrerpolicy="no-referrer"
      style="border: 0; width: 100%; height: 100%; display: block" srcdoc="${attribute(withHeadScript(html, inertLinks))}"></iframe>
  </body>
</html>`;
}

/** A link would take the frame away from its page, where nothing lets it load: what is not hostile is spared that. */
const inertLinks = `document.addEventListener('click', (event) => {
  const link = event.target.closest && event.target.closest('a[href]');
  if (link && !link.getAttribute('href').startsWith('#')) event.preventDefault();
}, true);`;

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/**
 * Only the frame's own window and the panel are heard, the panel by the origin of this page, which no frame has. A frame
 * that has loaded another page, which can only be one that it may frame, is taken away.
 */
const relay = (mark: string): string => `(() => {
  const page = ${JSON.stringify(mark)};
  const panel = acquireVsCodeApi();
  const frame = () => document.getElementById('app');
  let loads = 0;
  addEventListener('message', ({ source, origin, data }) => {
    const app = frame();
    if (app && source === app.contentWindow) panel.postMessage({ page, message: data });
    else if (app && origin === self.origin && data.page === page) app.contentWindow.postMessage(data.message, '*');
  });
  document.addEventListener('load', ({ target }) => {
    if (target !== frame()) return;
    loads += 1;
    if (loads === 1) return;
    target.remove();
    document.body.textContent = 'The app left its page, so it was closed.';
  }, true);
})();`;
