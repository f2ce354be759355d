/**
 * The cookies of one origin, in memory (X2a): a load balancer keeps a client at one replica by
 * them.
 */
const mostCookies = 50;
const longestCookie = 4096;

interface Cookie {
  readonly value: string;
  readonly path: string;
}

export class Cookies {
  private readonly cookies = new Map<string, Cookie>();

  constructor(private readonly origin: string) {}

  take(url: URL, headers: readonly string[] | undefined): void {
    if (url.origin !== this.origin) return;
    for (const header of headers ?? []) {
      const [pair = '', ...attributes] = header.split(';').map((part) => part.trim());
      const name = pair.slice(0, Math.max(0, pair.indexOf('=')));
      if (name === '' || header.length > longestCookie || !/^[\x21-\x7e]+$/.test(pair)) continue;
      const attribute = (wanted: string): string | undefined =>
        attributes
          .find((each) => each.toLowerCase().startsWith(`${wanted}=`))
          ?.slice(wanted.length + 1);
      const hasEnded =
        Number(attribute('max-age') ?? 1) <= 0 ||
        Date.parse(attribute('expires') ?? '') < Date.parse('2000-01-01');
      this.cookies.delete(name);
      const path = attribute('path') ?? '/';
      if (!hasEnded && this.cookies.size < mostCookies)
        this.cookies.set(name, {
          value: pair.slice(name.length + 1),
          path: path.startsWith('/') ? path : '/',
        });
    }
  }

  /**
   * Returns the value of the header `Cookie`; undefined if there is none. @param own the configured
   * one
   */
  headerFor(url: URL, own: string | undefined): string | undefined {
    if (url.origin !== this.origin || this.cookies.size === 0) return own;
    const fitting = [...this.cookies].filter(([, { path }]) => url.pathname.startsWith(path));
    const all = [
      ...(own === undefined ? [] : [own]),
      ...fitting.map(([name, { value }]) => `${name}=${value}`),
    ];
    return all.length === 0 ? undefined : all.join('; ');
  }
}
