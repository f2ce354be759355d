/** Explains why a server could not be reached over HTTP or did not answer with MCP (X3). Everything here is pure. */
import type { ProblemCode } from '../base/problem.js';
import { isSecretName } from '../base/secrets.js';
import { everySyntax, foreignReference } from '../config/foreignReferences.js';
import type { EnvValue, HttpLaunch } from '../config/model.js';
import { shortened } from '../protocol/inBrief.js';
import type { StartFailure } from './startFailure.js';
import {
  describeReason,
  type ProxyOnTheWay,
  type RedirectRemedy,
  type TransportFailureReason,
} from './transportFailure.js';

interface Explanation {
  readonly code?: ProblemCode;
  readonly path?: StartFailure['path'];
  readonly cause: string;
  readonly fix: string;
  readonly instead?: string;
}

export function urlUnusable(url: string): StartFailure {
  return {
    code: 'url-invalid',
    message: `did not start: "${url}" is not an http or https address.`,
    fix: 'Write the whole address, e.g. https://example.com/mcp.',
    path: ['url'],
  };
}

export function neverAnsweredHttp(timeoutMs: number): StartFailure {
  return {
    code: 'server-silent',
    message: `did not answer initialize within ${timeoutMs / 1000} s. It may be overloaded or waiting for something, or a firewall may block the connection.`,
    fix: 'Check that the server runs and is reachable from here; raise timeouts.connect if it is only slow.',
    path: [],
  };
}

const signInFix = 'Run “MCP Toolsets: Sign In to Server”: it opens the page of the server in your browser.';

/** @param to the refused message, unless it is `initialize` */
export function httpFailure(launch: HttpLaunch, reason: TransportFailureReason, to?: string): StartFailure {
  if (reason.kind === 'signIn') {
    return {
      code: 'sign-in-needed',
      message: `needs a sign-in. ${reason.why}`,
      fix: reason.fix ?? signInFix,
      path: [],
    };
  }
  const other = to === undefined ? '' : ` ${to}`;
  const did =
    reason.kind === 'status'
      ? `answered${other} with HTTP ${reason.status}`
      : to === undefined
        ? 'did not connect'
        : `answered initialize, but did not take${other}`;
  const { code = 'http-status', path = [], cause, fix, instead } = explained(launch, reason);
  const message = `${did}: ${cause.charAt(0).toLowerCase()}${cause.slice(1)}\n${describeReason(reason)}`;
  return { code, message, fix, path, ...(instead !== undefined && { instead }) };
}

function explained(launch: HttpLaunch, reason: Exclude<TransportFailureReason, { kind: 'signIn' }>): Explanation {
  switch (reason.kind) {
    case 'unreachable':
      return (reason.proxy && byProxy(reason.code, reason.proxy)) ?? unreachable(reason.code);
    case 'status':
      return byOtherProtocol(reason.body) ?? byHost(reason.body) ?? refused(reason.status, launch);
    case 'notMcp':
      return notMcp(reason);
    case 'redirect':
      return redirected(reason.url, reason.remedy);
    case 'tooLarge':
      return {
        code: 'http-not-mcp',
        path: ['url'],
        cause: 'It is not an MCP server, or it is a broken one.',
        fix: 'Check url.',
      };
    case 'notRenewed':
      return {
        code: 'http-unreachable',
        cause: 'The authorization server gave no new token, or the network does not reach it.',
        fix: 'Check the network, then restart the server; sign out and in again if that does not help.',
      };
    case 'broken':
    case 'sessionLost':
    case 'closed':
      if (reason.kind === 'broken' && reason.code !== undefined) return unreadable(reason.code);
      return {
        code: 'http-unreachable',
        cause: 'The server, or a proxy in front of it, ended the connection, perhaps because the server crashed.',
        fix: 'Look at the server’s own log, then restart it.',
      };
  }
}

const askAuthor = 'Update the server, or ask its author: its answers do not follow the MCP specification.';

function notMcp(reason: Extract<TransportFailureReason, { kind: 'notMcp' }>): Explanation {
  const { contentType } = reason;
  const fault = wrapping(reason);
  if (fault !== undefined) return { code: 'http-not-mcp', cause: fault, fix: askAuthor };
  return {
    code: 'http-not-mcp',
    path: ['url'],
    cause: /html/.test(contentType)
      ? 'That is a web page: the address is not an MCP endpoint, or a sign-in or proxy page answers in its place.'
      : 'The address is not an MCP endpoint.',
    fix: 'Correct url; MCP endpoints often end in /mcp or /sse.',
  };
}

/** Returns the fault of an answer that is plainly MCP. The body may be cut off. */
function wrapping({
  contentType,
  body,
  fault,
}: Extract<TransportFailureReason, { kind: 'notMcp' }>): string | undefined {
  if (fault === 'compression') return `The answer is ${body}, although the request did not accept that.`;
  const isEvents = /^(?:(?:event|id|retry): ?\S* )*data: ?[[{]/.test(body);
  if (isEvents) return `The answer is an event stream, but its Content-Type is ${contentType || 'missing'}.`;
  // Inside a text of JSON, its quotes are escaped.
  const hasVersion = /"jsonrpc\\*"\s*:\s*\\*"2\.0/.test(body);
  const isAnswer = /"(?:protocolVersion|serverInfo|result|error)\\*"\s*:/.test(body);
  if (/^"\s*\{/.test(body) && hasVersion) return 'The answer is JSON-RPC, but as a text in JSON: it was encoded twice.';
  if (!/^[[{]/.test(body)) return undefined;
  if (fault === 'utf16') return 'The answer is JSON in UTF-16, but MCP needs UTF-8.';
  if (hasVersion && contentType === 'text/event-stream')
    return 'The answer is JSON-RPC, but its Content-Type says that it is an event stream.';
  if (hasVersion && isAnswer) {
    const isWrapped = !/^(?:\[\s*)?\{\s*"(?:jsonrpc|id|result|error)"/.test(body);
    const field = /"([^"\\]{1,40})"\s*:\s*"?\s*[[{]\s*\\*"(?:jsonrpc|id|result|error)\\*"/.exec(body)?.[1];
    if (isWrapped && field !== undefined)
      return `The answer is JSON-RPC, but in the field \`${field}\` of another object.`;
    if (!/json|^text\/plain$|octet-stream|^$/.test(contentType))
      return `The answer is JSON-RPC, but its Content-Type is ${contentType}.`;
  }
  if (fault === 'notJson' && (hasVersion || isAnswer))
    return 'The answer begins like JSON-RPC, but is not valid JSON: it is cut off, or has a value like NaN.';
  if (hasVersion && isAnswer) return 'The answer is JSON-RPC, but not for this request: its `id` is another one.';
  if (/"(?:protocolVersion|serverInfo)"\s*:/.test(body))
    return 'The answer is one to initialize, but lacks the `jsonrpc: "2.0"` or the `result` of JSON-RPC.';
  return undefined;
}

function redirected(url: string, remedy: RedirectRemedy | undefined): Explanation {
  const path = ['url'];
  if (remedy?.kind !== 'write') return { path, ...redirects[remedy?.kind ?? 'moved'] };
  const isEncrypted = url.startsWith('http:') && remedy.url.startsWith('https:');
  const cause = isEncrypted
    ? 'The server wants an encrypted connection.'
    : 'The address differs by a slash at the end from the one of the server.';
  return { path, cause, fix: `Write ${remedy.url} as url.`, instead: remedy.url };
}

const redirects: Readonly<Record<Exclude<RedirectRemedy['kind'], 'write'> | 'moved', Explanation>> = {
  signInPage: {
    cause: 'The server wants a person to sign in on a web page, which a program cannot do.',
    fix: 'Look in the server’s documentation for an address or a token for programs.',
  },
  unsafe: {
    cause: 'The server redirects to an address that is not safe to use from here.',
    fix: 'Ask who runs the server for its encrypted public address, and write that as url.',
  },
  otherEndpoint: {
    cause:
      'The server speaks HTTP+SSE, but names an address on another origin for messages, which is not used for safety.',
    fix: 'Set the public address of the server in its own settings, or ask who runs it. If you can reach the other host, write the address of its event stream as url.',
  },
  circle: {
    cause: 'The redirects lead to no address that answers.',
    fix: 'Ask who runs the server, or look at its own log: it, or a proxy in front of it, redirects in a circle.',
  },
  moved: {
    cause: 'The server has moved.',
    fix: 'Write the address that the server redirects to as url, if you trust it.',
  },
};

function unreadable(code: string): Explanation {
  if (code.startsWith('HPE_')) {
    const cause = 'The port does not speak HTTP/1.1: another program listens there, or it wants another protocol.';
    return { code: 'http-unreachable', path: ['url'], cause, fix: 'Check scheme and port in url.' };
  }
  const cause = 'The answer is not compressed in the way that its header Content-Encoding says.';
  return { code: 'http-not-mcp', cause, fix: 'Update the server, or correct the proxy in front of it.' };
}

/** Some programs say in words that they speak another protocol. */
function byOtherProtocol(body: string): Explanation | undefined {
  if (/plain HTTP request was sent to HTTPS|HTTP request to an HTTPS server|requires? (?:https|TLS)\b/i.test(body)) {
    return { path: ['url'], cause: 'The port wants an encrypted connection.', fix: 'Write https:// in url.' };
  }
  if (!/ALPN|only (?:supports |speaks )?HTTP\/2|HTTP\/2 (?:is )?required/i.test(body)) return undefined;
  const cause = 'The port speaks only HTTP/2, which MCP Toolsets does not.';
  return { path: ['url'], cause, fix: 'Let the server, or a proxy in front of it, accept HTTP/1.1.' };
}

/** Some servers name the host that they take requests for. */
function byHost(body: string): Explanation | undefined {
  const host = /only allowed (?:at|on|for|from) ["'`]?((?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?)/i.exec(body)?.[1];
  if (host === undefined) return undefined;
  return { path: ['url'], cause: `The server takes requests for ${host} only.`, fix: 'Write that host in url.' };
}

function byProxy(code: string, proxy: ProxyOnTheWay): Explanation | undefined {
  const exempt = 'or exempt the server from it (NO_PROXY, or `http.noProxy` in the editor).';
  if (proxy.kind === 'unusable') {
    return {
      code: 'http-unreachable',
      cause: `The proxy of the environment ${proxy.why}, and the server cannot be reached without it.`,
      fix: `Correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, ${exempt}`,
    };
  }
  if (!(code in networkCauses)) return undefined;
  return {
    code: 'http-unreachable',
    cause: `The proxy ${proxy.host} cannot be reached, or does not let the connection through.`,
    fix: `Start the proxy, correct its address in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, ${exempt}`,
  };
}

function renewal(credentials: readonly EnvValue[]): string {
  const sources = credentials.flatMap((value) => (value.kind === 'reference' ? [value.source] : []));
  const steps = sources.map((source) =>
    source.kind === 'env'
      ? `set the variable ${source.name}`
      : source.kind === 'secret'
        ? `store it as the secret ${source.name}`
        : 'check that the program of the reference prints it',
  );
  return steps.length > 0
    ? `Renew the token and ${steps.join(', and ')}.`
    : 'Renew the token and write it in the header.';
}

/** A header of the file with a reference of another program goes out as it is written. */
function notExpanded({ headers }: HttpLaunch): Explanation | undefined {
  for (const [name, value] of headers) {
    const found = value.kind === 'literal' ? foreignReference(value.value, everySyntax) : undefined;
    if (!found) continue;
    const source = found.kind === 'variable' ? 'env' : 'secret';
    return {
      code: 'http-unauthorized',
      path: ['headers', name],
      cause: `The header ${name} was sent with \`${shortened(found.written, 60)}\` as it is written, because a text refers to no variables here.`,
      fix: `Write a reference, e.g. ${name}: { prefix: 'Bearer ', ${source}: ${'name' in found ? shortened(found.name, 60) : 'NAME'} }.`,
    };
  }
  return undefined;
}

function refused(status: number, launch: HttpLaunch): Explanation {
  const unexpanded = status === 401 || status === 403 ? notExpanded(launch) : undefined;
  if (unexpanded) return unexpanded;
  if (status === 401) return unauthorized(launch);
  const known = statuses[status];
  if (known) return known;
  if (status >= 500) return { cause: 'The server failed.', fix: 'Look at the server’s own log.' };
  return {
    path: ['url'],
    cause: 'The server did not accept the request.',
    fix: 'Check url and headers against the server’s documentation.',
  };
}

function unauthorized({ headers }: HttpLaunch): Explanation {
  const credentials = [...headers].flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
  const at = { code: 'http-unauthorized', path: ['headers'] } as const;
  if (credentials.length === 0) {
    return {
      ...at,
      cause: 'The server requires credentials, and none are configured.',
      fix: "Add a header, e.g. Authorization: { prefix: 'Bearer ', env: TOKEN }.",
    };
  }
  const sent = [...headers.keys()].join(', ');
  const cause = `The credentials in the headers (${sent}) are wrong or have expired.`;
  return { ...at, cause, fix: renewal(credentials) };
}

const proxyFails: Explanation = {
  cause: 'A proxy in front of the server cannot reach it, or the server is down for a while.',
  fix: 'Check that the server runs, then restart it here.',
};

const statuses: Readonly<Record<number, Explanation>> = {
  403: {
    code: 'http-unauthorized',
    path: ['headers'],
    cause: 'The credentials are not allowed to use this server, or the server does not allow this client.',
    fix: 'Use credentials with the rights for it, or ask who runs the server.',
  },
  404: {
    code: 'http-not-found',
    path: ['url'],
    cause: 'The server runs, but has nothing at this address.',
    fix: 'Correct the path in url; MCP endpoints often end in /mcp or /sse.',
  },
  405: {
    path: ['url'],
    cause: 'The address accepts no POST and has no event stream, so it is not an MCP endpoint.',
    fix: 'Correct url; MCP endpoints often end in /mcp or /sse.',
  },
  407: {
    cause: 'A proxy in front of the server requires credentials.',
    fix: 'Write user and password into the address of the proxy, or exempt the server from it (NO_PROXY, or `http.noProxy` in the editor).',
  },
  429: { cause: 'The server has received too many requests.', fix: 'Wait, then restart the server.' },
  502: proxyFails,
  503: proxyFails,
  504: proxyFails,
};

function unreachable(code: string): Explanation {
  const tls = tlsCauses[code] ?? (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO)/.test(code) ? otherTls : undefined);
  if (tls) return { code: 'http-tls', path: ['url'], ...tls };
  if (/^ERR_INVALID_(CHAR|HTTP_TOKEN)$/.test(code)) {
    return {
      code: 'http-unreachable',
      path: ['headers'],
      cause: 'A header has a character that HTTP does not allow, e.g. a line break.',
      fix: 'Correct the header, or the variable that it is copied from.',
    };
  }
  const known = networkCauses[code] ?? {
    cause: 'The server is not running, or the network does not reach it.',
    fix: 'Check url, network and proxy settings.',
  };
  return { code: 'http-unreachable', path: ['url'], ...known };
}

const selfSigned: Explanation = {
  cause: 'Its certificate is not signed by an authority that this computer trusts.',
  fix: 'Add the certificate, or the authority that signed it, to the trusted certificates of the system or to NODE_EXTRA_CA_CERTS.',
};

const otherTls: Explanation = {
  cause: 'No encrypted connection could be made.',
  fix: 'Check the certificate of the server.',
};

const tlsCauses: Readonly<Record<string, Explanation>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: selfSigned,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: selfSigned,
  UNABLE_TO_GET_ISSUER_CERT: selfSigned,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: selfSigned,
  CERT_HAS_EXPIRED: {
    cause: 'Its certificate has expired, or the clock of this computer is wrong.',
    fix: 'Renew the certificate of the server, or correct the clock.',
  },
  CERT_NOT_YET_VALID: {
    cause: 'Its certificate is not valid yet, or the clock of this computer is wrong.',
    fix: 'Correct the clock, or the certificate of the server.',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    cause: 'Its certificate is for another host name.',
    fix: 'Write the host name of the certificate in url, or correct the certificate.',
  },
  EPROTO: {
    cause: 'The port does not speak TLS, or speaks another version of it.',
    fix: 'Write http:// in url if the server is not encrypted, or correct the port.',
  },
};

const networkCauses: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: {
    cause: 'Nothing listens there: the server is not running, or the port is wrong.',
    fix: 'Start the server, or correct the port in url.',
  },
  ENOTFOUND: {
    cause: 'The host name does not exist.',
    fix: 'Correct the host name in url; check the network, or the VPN if the name is internal.',
  },
  EAI_AGAIN: {
    cause: 'The host name could not be looked up: there may be no network.',
    fix: 'Check the network and the proxy settings, then restart the server.',
  },
  ETIMEDOUT: {
    cause: 'The host does not answer: it is down, or a firewall blocks the connection.',
    fix: 'Check that the server runs and is reachable from here.',
  },
  ECONNRESET: {
    cause:
      'The connection was closed before any answer: a proxy or firewall blocks it, or the port speaks another protocol.',
    fix: 'Check scheme and port in url, and the proxy settings.',
  },
};
