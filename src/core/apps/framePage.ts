/**
 * Makes the page around a hostile app (G8). Its frame has an opaque origin and inherits the policy
 * of this page.
 */
import type { AppPage } from './appResource.js';
import { asFields, asList, type Fields } from '../base/isObject.js';
import { isLoopback } from '../base/loopback.js';

interface FrameOptions {
  /**
   * Letters, digits and dashes, another for each page, so that its messages are not confused with
   * another's.
   */
  readonly mark: string;
  /**
   * True if the server of the app runs on this machine. Otherwise its page may not reach this
   * machine.
   */
  readonly isOfThisMachine: boolean;
}

export interface Marked {
  readonly page: string;
  readonly message: unknown;
}

/** @returns HTML for a webview with scripts and without resources; its messages are `Marked` */
export function framePage({ html, ui }: AppPage, { mark, isOfThisMachine }: FrameOptions): string {
  return `<!doctype html>
<html lang="en" style="height: 100%">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy(ui, isOfThisMachine)}" />
    <title>App</title>
  </head>
  <body style="height: 100%; margin: 0; padding: 0; overflow: hidden">
    <script>${relay(mark)}</script>
    <iframe id="app" title="App" sandbox="allow-scripts allow-forms" allow="" referrerpolicy="no-referrer"
      style="border: 0; width: 100%; height: 100%; display: block" srcdoc="${attribute(shutOff(html))}"></iframe>
  </body>
</html>`;
}

/**
 * No comment and no script of the page can swallow our script. The policy is only for this
 * document.
 */
function shutOff(html: string): string {
  const policy = "require-trusted-types-for 'script'; trusted-types default";
  const page = html.replace(/srcdoc(?=\s*=)/gi, 'data-no');
  return `<meta http-equiv="Content-Security-Policy" content="${policy}"><script>${beforeThePage}</script>${page}`;
}

/**
 * Removes WebRTC, which no directive stops, and each way to a frame with a fresh realm, because
 * `frame-src` allows `srcdoc` and `javascript:` (measured on Chromium 156). Every parser and setter
 * for a script asks the default policy of Trusted Types. It refuses a text that can form `srcdoc`,
 * and each sink that may get half a tag. The page may replace built-in functions, so the policy
 * looks none up later. Clicks on links do nothing, because a link would take the frame away from
 * its page.
 */
const beforeThePage = `(() => {
  for (const name of Object.getOwnPropertyNames(self)) if (/RTC|WebTransport|XSLT/.test(name)) delete self[name];
  const { apply } = Reflect;
  const { includes, toLowerCase } = String.prototype;
  const has = (text, part) => apply(includes, apply(toLowerCase, text, []), [part]);
  trustedTypes.createPolicy('default', {
    createHTML: (html, type, sink) => {
      const isWhole = has(sink, 'html') || has(sink, 'fragment') || has(sink, 'parse') || has(sink, 'command');
      const isFrame = has(sink, 'srcdoc') || has(sink, 'stream') || has(html, 'srcdoc') || has(html, '<!entity');
      return isWhole && !isFrame ? html : undefined;
    },
    createScript: (text, type, sink) => (has(sink, 'location') ? undefined : text),
    createScriptURL: (url) => url,
  });
  delete self.trustedTypes;
  const requests = XMLHttpRequest.prototype;
  const { get, set } = Object.getOwnPropertyDescriptor(requests, 'responseType');
  Object.defineProperty(requests, 'responseType', {
    get,
    set(type) {
      const text = '' + type;
      if (text !== 'document') apply(set, this, [text]);
    },
  });
  delete requests.responseXML;
  document.addEventListener('click', (event) => {
    const link = event.target.closest && event.target.closest('a[href]');
    if (link && !link.getAttribute('href').startsWith('#')) event.preventDefault();
  }, true);
})();`;

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/**
 * The page recognises the panel by its own origin, which no frame has. A frame with another page is
 * removed.
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

/** A scheme, a host that may begin with one wildcard, and a port. */
const origin =
  /^(?:https|wss):\/\/(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::\d{1,5})?\/?$/i;
/**
 * A local program seldom encrypts and may have any port. The editor's chat allows it too (VS Code
 * 1.139.1).
 */
const local = /^(?:https?|wss?):\/\/(?:localhost|127\.0\.0\.1)(?::(?:\d{1,5}|\*))?\/?$/i;

const mostSources = 64;

/** Encrypted names of this machine count too. */
const ofThisMachine = (source: string): boolean =>
  isLoopback(/^[a-z]+:\/\/([^:/]+)/i.exec(source)?.[1] ?? '');

export function contentSecurityPolicy(ui: Fields, isOfThisMachine: boolean): string {
  const csp = asFields(ui['csp']);
  const sources = (key: string): string => {
    const declared = asList(csp[key]);
    const granted = declared.slice(0, mostSources).filter((source) => {
      const isOrigin = typeof source === 'string' && (origin.test(source) || local.test(source));
      return isOrigin && (isOfThisMachine || !ofThisMachine(source));
    });
    return granted.map((source) => ` ${source as string}`).join('');
  };
  const only = (list: string): string => (list === '' ? " 'none'" : list);
  const resources = sources('resourceDomains');
  return [
    "default-src 'none'",
    `script-src 'unsafe-inline'${resources}`,
    `style-src 'unsafe-inline'${resources}`,
    `img-src data:${resources}`,
    `media-src data:${resources}`,
    `font-src data:${resources}`,
    `connect-src${only(sources('connectDomains'))}`,
    `frame-src${only(sources('frameDomains'))}`,
    "object-src 'none'",
    `base-uri${only(sources('baseUriDomains'))}`,
    "form-action 'none'",
  ].join('; ');
}
