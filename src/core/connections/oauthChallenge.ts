/** What a server says in `WWW-Authenticate` when it refuses a request (RFC 6750, RFC 9728). Pure. */

export interface Challenge {
  readonly isBearer: boolean;
  /** Of the protected resource metadata. */
  readonly metadataUrl: URL | undefined;
  /** What the request needs. */
  readonly scope: string | undefined;
  readonly error: string | undefined;
}

/** The first Bearer challenge, where the header has several. */
export function readChallenge(header: string | undefined): Challenge {
  const bearer = /(?:^|,)\s*bearer(?=\s|,|$)/i.exec(header ?? '');
  if (!bearer) return { isBearer: false, metadataUrl: undefined, scope: undefined, error: undefined };
  const parameters = new Map<string, string>();
  const rest = (header ?? '').slice(bearer.index + bearer[0].length);
  const parameter = /\s*,?\s*([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/iy;
  for (let found = parameter.exec(rest); found; found = parameter.exec(rest)) {
    const value = found[2]?.replace(/\\(.)/g, '$1') ?? found[3] ?? '';
    const name = (found[1] ?? '').toLowerCase();
    if (!parameters.has(name)) parameters.set(name, value);
  }
  const metadata = parameters.get('resource_metadata') ?? '';
  const metadataUrl = URL.canParse(metadata) ? new URL(metadata) : undefined;
  return {
    isBearer: true,
    metadataUrl: metadataUrl && /^https?:$/.test(metadataUrl.protocol) ? metadataUrl : undefined,
    scope: parameters.get('scope') || undefined,
    error: parameters.get('error'),
  };
}
