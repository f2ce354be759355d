/**
 * Explains why a server could not be reached over HTTP or did not answer with MCP (X3). Each cause has a factory.
 * Everything here is pure.
 */
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

/** The action of the server, for the first line, and its reply. */
interface Attempt {
  readonly did: string;
  readonly back: string;
}

interface Explanation {
  readonly cause: string;
  readonly fix: string;
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

export function httpFailure(launch: HttpLaunch, reason: TransportFailureReason): StartFailure {
  const did = reason.kind === 'status' ? `answered with HTTP ${reason.status}` : 'did not connect';
  const what: Attempt = { did, back: describeReason(reason) };
  switch (reason.kind) {
    case 'unreachable':
      return (reason.proxy && byProxy(what, reason.code, reason.proxy)) ?? unreachable(what, reason.code);
    case 'status':
      return byOtherProtocol(what, reason.body) ?? byHost(what, reason.body) ?? refused(what, reason.status, launch);
    case 'notMcp':
      return notMcp(what, reason.contentType, reason.body);
    case 'redirect':
      return redirected(what, reason.remedy);
    case 'tooLarge':
      return failure('http-not-mcp', ['url'], what, 'It is not an MCP server, or it is a broken one.', 'Check url.');
    case 'signIn': {
      const fix = reason.fix ?? signInFix;
      return { code: 'sign-in-needed', message: `needs a sign-in. ${reason.why}`, fix, path: [] };
    }
    case 'notRenewed':
      return failure(
        'http-unreachable',
        [],
        what,
        'The authorization server is down, or the network does not reach it.',
        'Check the network, then restart the server; sign out and in again if that does not help.',
      );
    case 'broken':
      if (reason.code !== undefined) return unreadable(what, reason.code);
      return ended(what);
    case 'sessionLost':
    case 'closed':
      return ended(what);
  }
}

function ended(what: Attempt): StartFailure {
  return failure(
    'http-unreachable',
    [],
    what,
    'The server, or a proxy in front of it, ended the connection, perhaps because the server crashed.',
    'Look at the server’s own log, then restart it.',
  );
}

const askAuthor = 'Update the server, or ask its author: its answers do not follow the MCP specification.';

function notMcp(what: Attempt, contentType: string, body: string): StartFailure {
  const fault = wrapping(contentType, body);
  if (fault !== undefined) return failure('http-not-mcp', [], what, fault, askAuthor);
  return failure(
    'http-not-mcp',
    ['url'],
    what,
    /html/.test(contentType)
      ? 'That is a web page: the address is not an MCP endpoint, or a sign-in or proxy page answers in its place.'
      : 'The address is not an MCP endpoint.',
    'Correct url; MCP endpoints often end in /mcp or /sse.',
  );
}

/** Returns the fault of an answer that is plainly MCP. The body may be cut off. */
function wrapping(contentType: string, body: string): string | undefined {
  const isEvents = /^(?:(?:event|id|retry): ?\S* )*data: ?[[{]/.test(body);
  if (isEvents) return `The answer is an event stream, but its Content-Type is ${contentType || 'missing'}.`;
  if (!/^[[{]/.test(body)) return undefined;
  const hasVersion = /"jsonrpc"\s*:\s*"2\.0"/.test(body);
  const isAnswer = /"(?:protocolVersion|serverInfo|result|error)"\s*:/.test(body);
  if (hasVersion && contentType === 'text/event-stream')
    return 'The answer is JSON-RPC, but its Content-Type says that it is an event stream.';
  if (hasVersion && isAnswer) return 'The answer is JSON-RPC, but not for this request: its `id` is another one.';
  if (/"(?:protocolVersion|serverInfo)"\s*:/.test(body))
    return 'The answer is one to initialize, but lacks the `jsonrpc: "2.0"` or the `result` of JSON-RPC.';
  return undefined;
}

function redirected(what: Attempt, remedy: RedirectRemedy | undefined): StartFailure {
  const path = ['url'];
  switch (remedy?.kind) {
    case 'write':
      return {
        ...failure(
          'http-status',
          path,
          what,
          'The address differs by a slash at the end, and the server redirects to a place that is not used for safety.',
          `Write ${remedy.url} as url.`,
        ),
        instead: remedy.url,
      };
    case 'signInPage':
      return failure(
        'http-status',
        path,
        what,
        'The server wants a person to sign in on a web page, which a program cannot do.',
        'Look in the server’s documentation for an address or a token for programs.',
      );
    case 'unsafe':
      return failure(
        'http-status',
        path,
        what,
        'The server redirects to an address that is not safe to use from here.',
        'Ask who runs the server for its encrypted public address, and write that as url.',
      );
    case undefined:
      return failure(
        'http-status',
        path,
        what,
        'The server has moved.',
        'Write the address that the server redirects to as url, if you trust it.',
      );
  }
}

function unreadable(what: Attempt, code: string): StartFailure {
  if (code.startsWith('HPE_')) {
    const cause = 'The port does not speak HTTP/1.1: another program listens there, or it wants another protocol.';
    return failure('http-unreachable', ['url'], what, cause, 'Check scheme and port in url.');
  }
  const cause = 'The answer is not compressed in the way that its header Content-Encoding says.';
  return failure('http-not-mcp', [], what, cause, 'Update the server, or correct the proxy in front of it.');
}

/** Some programs say in words that they speak another protocol. */
function byOtherProtocol(what: Attempt, body: string): StartFailure | undefined {
  if (/plain HTTP request was sent to HTTPS|HTTP request to an HTTPS server|requires? (?:https|TLS)\b/i.test(body)) {
    return failure('http-status', ['url'], what, 'The port wants an encrypted connection.', 'Write https:// in url.');
  }
  if (/ALPN|only (?:supports |speaks )?HTTP\/2|HTTP\/2 (?:is )?required/i.test(body)) {
    const cause = 'The port speaks only HTTP/2, which MCP Toolsets does not.';
    return failure('http-status', ['url'], what, cause, 'Let the server, or a proxy in front of it, accept HTTP/1.1.');
  }
  return undefined;
}

/** Some servers name the host that they take requests for. */
function byHost(what: Attempt, body: string): StartFailure | undefined {
  const host = /only allowed (?:at|on|for|from) ["'`]?((?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?)/i.exec(body)?.[1];
  if (host === undefined) return undefined;
  const cause = `The server takes requests for ${host} only.`;
  return failure('http-status', ['url'], what, cause, 'Write that host in url.');
}

function byProxy(what: Attempt, code: string, proxy: ProxyOnTheWay): StartFailure | undefined {
  const exempt = 'or exempt the server from it (NO_PROXY, or `http.noProxy` in the editor)';
  if (proxy.kind === 'unusable') {
    const cause = `The proxy of the environment ${proxy.why}, and the server cannot be reached without it.`;
    const fix = `Correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, ${exempt}.`;
    return failure('http-unreachable', [], what, cause, fix);
  }
  if (!(code in networkCauses)) return undefined;
  const cause = `The proxy ${proxy.host} cannot be reached, or does not let the connection through.`;
  const fix = `Start the proxy, correct its address in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, ${exempt}.`;
  return failure('http-unreachable', [], what, cause, fix);
}

/** The advice for credentials that a server does not accept. */
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
function notExpanded(what: Attempt, { headers }: HttpLaunch): StartFailure | undefined {
  for (const [name, value] of headers) {
    const found = value.kind === 'literal' ? foreignReference(value.value, everySyntax) : undefined;
    if (!found) continue;
    const cause = `The header ${name} was sent with \`${shortened(found.written, 60)}\` as it is written, because a text refers to no variables here.`;
    const source = found.kind === 'variable' ? 'env' : 'secret';
    const fix = `Write a reference, e.g. ${name}: { prefix: 'Bearer ', ${source}: ${'name' in found ? shortened(found.name, 60) : 'NAME'} }.`;
    return failure('http-unauthorized', ['headers', name], what, cause, fix);
  }
  return undefined;
}

function refused(what: Attempt, status: number, launch: HttpLaunch): StartFailure {
  const sent = [...launch.headers.keys()].join(', ');
  const credentials = [...launch.headers].flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
  const unexpanded = status === 401 || status === 403 ? notExpanded(what, launch) : undefined;
  if (unexpanded) return unexpanded;
  switch (status) {
    case 401:
      return credentials.length > 0
        ? failure(
            'http-unauthorized',
            ['headers'],
            what,
            `The credentials in the headers (${sent}) are wrong or have expired.`,
            renewal(credentials),
          )
        : failure(
            'http-unauthorized',
            ['headers'],
            what,
            'The server requires credentials, and none are configured.',
            "Add a header, e.g. Authorization: { prefix: 'Bearer ', env: TOKEN }.",
          );
    case 403:
      return failure(
        'http-unauthorized',
        ['headers'],
        what,
        'The credentials are not allowed to use this server, or the server does not allow this client.',
        'Use credentials with the rights for it, or ask who runs the server.',
      );
    case 407:
      return failure(
        'http-status',
        [],
        what,
        'A proxy in front of the server requires credentials.',
        'Write user and password into the address of the proxy, or exempt the server from it (NO_PROXY, or `http.noProxy` in the editor).',
      );
    case 404:
      return failure(
        'http-not-found',
        ['url'],
        what,
        'The server runs, but has nothing at this address.',
        'Correct the path in url; MCP endpoints often end in /mcp or /sse.',
      );
    case 405:
      return failure(
        'http-status',
        ['url'],
        what,
        'The address accepts no POST and has no event stream, so it is not an MCP endpoint.',
        'Correct url; MCP endpoints often end in /mcp or /sse.',
      );
    case 429:
      return failure(
        'http-status',
        [],
        what,
        'The server has received too many requests.',
        'Wait, then restart the server.',
      );
    case 502:
    case 503:
    case 504:
      return failure(
        'http-status',
        [],
        what,
        'A proxy in front of the server cannot reach it, or the server is down for a while.',
        'Check that the server runs, then restart it here.',
      );
    default:
      return status >= 500
        ? failure('http-status', [], what, 'The server failed.', 'Look at the server’s own log.')
        : failure(
            'http-status',
            ['url'],
            what,
            'The server did not accept the request.',
            'Check url and headers against the server’s documentation.',
          );
  }
}

function unreachable(what: Attempt, code: string): StartFailure {
  const tls = tlsCauses[code] ?? (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO)/.test(code) ? otherTls : undefined);
  if (tls) return failure('http-tls', ['url'], what, tls.cause, tls.fix);
  if (/^ERR_INVALID_(CHAR|HTTP_TOKEN)$/.test(code)) {
    return failure(
      'http-unreachable',
      ['headers'],
      what,
      'A header has a character that HTTP does not allow, e.g. a line break.',
      'Correct the header, or the variable that it is copied from.',
    );
  }
  const { cause, fix } = networkCauses[code] ?? {
    cause: 'The server is not running, or the network does not reach it.',
    fix: 'Check url, network and proxy settings.',
  };
  return failure('http-unreachable', ['url'], what, cause, fix);
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

function failure(
  code: ProblemCode,
  path: readonly (string | number)[],
  { did, back }: Attempt,
  cause: string,
  fix: string,
): StartFailure {
  return { code, message: `${did}: ${cause.charAt(0).toLowerCase()}${cause.slice(1)}\n${back}`, fix, path };
}
