/**
 * Makes the content security policy of an app's page (G8). It allows only the declared sources. A source that is not an
 * origin is left out. The port may be open only for this machine. Everything is pure.
 */
import { isObject } from '../base/isObject.js';
import { isLoopback } from '../base/loopback.js';
import { asText } from '../base/text.js';

/** A scheme, a host that may begin with one wildcard, and a port. */
const origin =
  /^(?:https|wss):\/\/(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::\d{1,5})?\/?$/i;
/**
 * A page of a local server may need a local program, which seldom encrypts and may have any port. The editor's chat
 * allows this to every page (measured on VS Code 1.139.1).
 */
const local = /^(?:https?|wss?):\/\/(?:localhost|127\.0\.0\.1)(?::(?:\d{1,5}|\*))?\/?$/i;

const mostSources = 64;

interface Policy {
  /** The value for the page, without quotation marks. */
  readonly policy: string;
  /** The declared sources without a grant. */
  readonly refused: readonly string[];
}

/** Encrypted names of this machine count too. */
const ofThisMachine = (source: string): boolean => isLoopback(/^[a-z]+:\/\/([^:/]+)/i.exec(source)?.[1] ?? '');

/** @param ui `_meta.ui` of the page. @param isOfThisMachine true if its server runs on this machine */
export function contentSecurityPolicy(ui: Readonly<Record<string, unknown>>, isOfThisMachine: boolean): Policy {
  const csp = isObject(ui['csp']) ? ui['csp'] : {};
  const refused: string[] = [];
  const sources = (key: string): string => {
    const declared: unknown[] = Array.isArray(csp[key]) ? csp[key] : [];
    const granted = declared.filter((source, index): source is string => {
      const isOrigin = typeof source === 'string' && (origin.test(source) || local.test(source));
      if (isOrigin && index < mostSources && (isOfThisMachine || !ofThisMachine(source))) return true;
      refused.push(asText(source));
      return false;
    });
    return granted.map((source) => ` ${source}`).join('');
  };
  const only = (list: string): string => (list === '' ? " 'none'" : list);
  const resources = sources('resourceDomains');
  const policy = [
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
  return { policy, refused };
}
