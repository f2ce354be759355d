import { english, lowered } from '../base/language.js';
import type { ProblemCode } from '../base/problemCatalogue.js';
import { signInCommand } from '../base/signInCommand.js';
import { isSecretName } from '../base/secrets.js';
import { everySyntax, foreignReference } from '../config/foreignReferences.js';
import type { Value, HttpLaunch } from '../config/model.js';
import { shortened } from '../protocol/inBrief.js';
import { adviceIn, advised, type Advice } from './likelyCause.js';
import { failed, type StartFailure } from './startFailure.js';
import {
  describeReason,
  type ProxyOnTheWay,
  type RedirectRemedy,
  type TransportFailureReason,
} from './transportFailure.js';

interface Explanation {
  readonly code?: ProblemCode;
  readonly path?: StartFailure['path'];
  readonly advice: Advice;
  readonly instead?: string;
}

const path = ['url'];

export function urlUnusable(url: string): StartFailure {
  const fix = 'Write the whole address, e.g. https://example.com/mcp.';
  return failed(
    'url-invalid',
    english`did not start: "${url}" is not an http or https address.`,
    fix,
    path,
  );
}

export function neverAnsweredHttp(timeoutMs: number): StartFailure {
  const guess =
    'It may be overloaded or waiting for something, or a firewall may block the connection.';
  const fix =
    'Check that the server runs and is reachable from here; raise timeouts.connect if it is only slow.';
  return failed(
    'server-silent',
    english`did not answer initialize within ${timeoutMs / 1000} s. ${guess}`,
    fix,
  );
}

const signInFix = (): string =>
  english`Choose “Sign In to Server…” in “MCP Toolsets: Manage Server…”: it opens the page of the server in your browser. Outside the editor, run ${signInCommand}.`;

/** @param to the refused message, unless it is `initialize` */
export function httpFailure(
  launch: HttpLaunch,
  reason: TransportFailureReason,
  to?: string,
): StartFailure {
  if (reason.kind === 'signIn') {
    const { why, fix } = reason;
    return fix === undefined
      ? failed('sign-in-needed', english`needs a sign-in. ${why}`, signInFix())
      : failed('sign-in-needed', english`gives no access. ${why}`, fix);
  }
  const did = didInstead(reason, to);
  const { code = 'http-status', path: place, advice, instead } = explained(launch, reason);
  const { cause, fix } = adviceIn(advice);
  const message = english`${did}: ${lowered(cause)}\n${describeReason(reason)}`;
  return { ...failed(code, message, fix, place), ...(instead !== undefined && { instead }) };
}

function didInstead(reason: TransportFailureReason, to: string | undefined): string {
  if (reason.kind === 'status')
    return to === undefined
      ? english`answered with HTTP ${reason.status}`
      : english`answered ${to} with HTTP ${reason.status}`;
  return to === undefined
    ? 'did not connect'
    : english`answered initialize, but did not take ${to}`;
}

function explained(
  launch: HttpLaunch,
  reason: Exclude<TransportFailureReason, { kind: 'signIn' }>,
): Explanation {
  switch (reason.kind) {
    case 'unreachable':
      return (reason.proxy && byProxy(reason, reason.proxy)) ?? unreachable(reason);
    case 'status':
      return (
        (reason.proxy?.kind === 'used' && refusedBy(reason.proxy.host, reason.status)) ||
        (byWords(reason.body) ?? refused(reason.status, launch))
      );
    case 'notMcp':
      return notMcp(reason);
    case 'redirect':
      return redirected(reason.url, reason.remedy);
    case 'tooLarge':
      return {
        code: 'http-not-mcp',
        path,
        advice: 'It is not an MCP server, or it is a broken one. → Check url.',
      };
    case 'broken':
      return reason.code === undefined
        ? broken
        : (wantsCertificate(reason) ?? unreadable(reason.code));
    default:
      return reason.kind === 'notRenewed' ? notRenewed : broken;
  }
}

const notRenewed: Explanation = {
  code: 'http-unreachable',
  advice:
    'The authorization server gave no token now, or the network does not reach it. → Wait a little and check the network, then restart the server; a person can also sign out and in again.',
};

const broken: Explanation = {
  code: 'http-unreachable',
  advice:
    'The server, or a proxy in front of it, ended the connection, perhaps because the server crashed. → Look at the server’s own log, then restart it.',
};

type NotMcp = Extract<TransportFailureReason, { kind: 'notMcp' }>;

function notMcp(reason: NotMcp): Explanation {
  const code = 'http-not-mcp';
  const fault = wrapping(reason);
  if (fault !== undefined) {
    const author =
      'Update the server, or ask its author: its answers do not follow the MCP specification.';
    return { code, advice: `${fault} → ${author}` };
  }
  const cause = /html/.test(reason.contentType)
    ? 'That is a web page: the address is not an MCP endpoint, or a sign-in or proxy page answers in its place.'
    : 'The address is not an MCP endpoint.';
  return {
    code,
    path,
    advice: advised`${cause} → Correct url; MCP endpoints often end in /mcp or /sse.`,
  };
}

/** Returns the fault of an answer that is plainly MCP. The body may be cut off. */
function wrapping(answer: NotMcp): string | undefined {
  const { contentType, body, fault } = answer;
  if (fault === 'compression')
    return english`The answer is ${body}, although the request did not accept that.`;
  const isEvents = /^(?:event|id|retry|data):/.test(body) && /(?:^| )data: ?[[{]/.test(body);
  if (isEvents)
    return contentType === ''
      ? 'The answer is an event stream, but its Content-Type is missing.'
      : english`The answer is an event stream, but its Content-Type is ${contentType}.`;
  if (/^"\s*\{/.test(body) && jsonRpcVersion.test(body))
    return 'The answer is JSON-RPC, but as a text in JSON: it was encoded twice.';
  return /^[[{]/.test(body) ? faultOfJson(answer) : undefined;
}

/** Inside a text of JSON, its quotes are escaped. */
const jsonRpcVersion = /"jsonrpc\\*"\s*:\s*\\*"2\.0/;

function faultOfJson({ contentType, body, fault }: NotMcp): string | undefined {
  const hasVersion = jsonRpcVersion.test(body);
  const isAnswer = /"(?:protocolVersion|serverInfo|result|error)\\*"\s*:/.test(body);
  if (fault === 'utf16') return 'The answer is JSON in UTF-16, but MCP needs UTF-8.';
  if (hasVersion && contentType === 'text/event-stream')
    return 'The answer is JSON-RPC, but its Content-Type says that it is an event stream.';
  if (hasVersion && isAnswer) {
    const isWrapped = !/^(?:\[\s*)?\{\s*"(?:jsonrpc|id|result|error)"/.test(body);
    const field = /"([^"\\]{1,40})"\s*:\s*"?\s*[[{]\s*\\*"(?:jsonrpc|id|result|error)\\*"/.exec(
      body,
    )?.[1];
    if (isWrapped && field !== undefined)
      return english`The answer is JSON-RPC, but in the field \`${field}\` of another object.`;
    if (!/json|^text\/plain$|octet-stream|^$/.test(contentType))
      return english`The answer is JSON-RPC, but its Content-Type is ${contentType}.`;
  }
  if (fault === 'notJson' && (hasVersion || isAnswer))
    return 'The answer begins like JSON-RPC, but is not valid JSON: it is cut off, or has a value like NaN.';
  if (hasVersion && isAnswer)
    return 'The answer is JSON-RPC, but not for this request: its `id` is another one.';
  if (/"(?:protocolVersion|serverInfo)"\s*:/.test(body))
    return 'The answer is one to initialize, but lacks the `jsonrpc: "2.0"` or the `result` of JSON-RPC.';
  return undefined;
}

function redirected(url: string, remedy: RedirectRemedy | undefined): Explanation {
  if (remedy?.kind !== 'write') return { path, advice: redirects[remedy?.kind ?? 'moved'] };
  const isEncrypted = url.startsWith('http:') && remedy.url.startsWith('https:');
  const cause = isEncrypted
    ? 'The server wants an encrypted connection.'
    : 'The address differs by a slash at the end from the one of the server.';
  return {
    path,
    advice: advised`${cause} → Write ${remedy.url} as url.`,
    instead: remedy.url,
  };
}

const redirects: Readonly<Record<Exclude<RedirectRemedy['kind'], 'write'> | 'moved', Advice>> = {
  signInPage:
    'The server wants a person to sign in on a web page, which a program cannot do. → Look in the server’s documentation for an address or a token for programs.',
  unsafe:
    'The server redirects to an address that is not safe to use from here. → Ask who runs the server for its encrypted public address, and write that as url.',
  otherEndpoint:
    'The server speaks HTTP+SSE, but names an address on another origin for messages, which is not used for safety. → Set the public address of the server in its own settings, or ask who runs it. If you can reach the other host, write the address of its event stream as url.',
  circle:
    'The redirects lead to no address that answers. → Ask who runs the server, or look at its own log: it, or a proxy in front of it, redirects in a circle.',
  moved:
    'The server has moved. → Write the address that the server redirects to as url, if you trust it.',
};

function unreadable(code: string): Explanation {
  if (code.startsWith('HPE_')) {
    const cause =
      'The port does not speak HTTP/1.1: another program listens there, or it wants another protocol.';
    return {
      code: 'http-unreachable',
      path,
      advice: advised`${cause} → Check scheme and port in url.`,
    };
  }
  const cause = 'The answer is not compressed in the way that its header Content-Encoding says.';
  return {
    code: 'http-not-mcp',
    advice: advised`${cause} → Update the server, or correct the proxy in front of it.`,
  };
}

/**
 * Some programs say in words that they speak another protocol, or name the host that they take
 * requests for.
 */
function byWords(body: string): Explanation | undefined {
  if (
    /plain HTTP request was sent to HTTPS|HTTP request to an HTTPS server|requires? (?:https|TLS)\b/i.test(
      body,
    )
  ) {
    return { path, advice: 'The port wants an encrypted connection. → Write https:// in url.' };
  }
  if (/ALPN|only (?:supports |speaks )?HTTP\/2|HTTP\/2 (?:is )?required/i.test(body)) {
    const cause = 'The port speaks only HTTP/2, which MCP Toolsets does not.';
    return {
      path,
      advice: advised`${cause} → Let the server, or a proxy in front of it, accept HTTP/1.1.`,
    };
  }
  if (
    /no required SSL certificate was sent|client certificate (?:is )?(?:required|needed)|requires? a client certificate/i.test(
      body,
    )
  )
    return { code: 'http-tls', path, advice: clientCertificate };
  const host =
    /only allowed (?:at|on|for|from) ["'`]?((?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?)/i.exec(
      body,
    )?.[1];
  if (host === undefined) return undefined;
  const advice = advised`The server takes requests for ${host} only. → Write that host in url.`;
  return { path, advice };
}

/** The proxy answers before it has connected to the server. */
function refusedBy(host: string, status: number): Explanation {
  const advice =
    status === 407
      ? advised`A proxy in front of the server requires credentials (${host}). → Write user and password into its address in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or exempt the server by its host name or address in NO_PROXY.`
      : advised`The proxy ${host} answered, and does not let the connection through. → Ask who runs the proxy to permit the connection, or exempt the server by its host name or address in NO_PROXY.`;
  return { advice };
}

type Unreachable = Extract<TransportFailureReason, { kind: 'unreachable' }>;

function byProxy(
  { code, trust, isPassed }: Unreachable,
  proxy: ProxyOnTheWay,
): Explanation | undefined {
  if (proxy.kind === 'used' && isPassed && !(code in networkCauses)) return undefined;
  const isHandshake = proxy.kind === 'used' && !isPassed && isTls(code);
  if (isHandshake) {
    const advice: Advice = /^(?:EPROTO|ERR_SSL)/.test(code)
      ? advised`The proxy ${proxy.host} does not speak TLS. → Write http:// in its address in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or exempt the server by its host name or address in NO_PROXY.`
      : advised`The certificate of the proxy ${proxy.host} is not accepted. → ${trust ?? inSystem}`;
    return { code: 'http-tls', advice };
  }
  const advice =
    proxy.kind === 'used'
      ? advised`The proxy ${proxy.host} cannot be reached, or does not let the connection through. → Start the proxy, correct its address (http:// or https://) in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or exempt the server by its host name or address in NO_PROXY.`
      : advised`The proxy of the environment ${proxy.why}, and the server cannot be reached without it. → Correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or exempt the server by its host name or address in NO_PROXY.`;
  return { code: 'http-unreachable', advice };
}

function renewal(credentials: readonly Value[]): string {
  const sources = credentials.flatMap((value) =>
    value.kind === 'reference' ? [value.source] : [],
  );
  const steps = sources.map((source) =>
    source.kind === 'env'
      ? english`set the variable ${source.name}`
      : source.kind === 'secret'
        ? english`store it as the secret ${source.name}`
        : 'check that the program of the reference prints it',
  );
  return steps.length > 0
    ? english`Renew the token and ${steps.reduce((all, step) => english`${all}, and ${step}`)}.`
    : 'Renew the token and write it in the header.';
}

/** A header of the file with a reference of another program goes out as it is written. */
function notExpanded({ headers }: HttpLaunch): Explanation | undefined {
  for (const [name, value] of headers) {
    const found = value.kind === 'literal' ? foreignReference(value.value, everySyntax) : undefined;
    if (!found) continue;
    const source = found.kind === 'variable' ? 'env' : 'secret';
    const example = `${name}: { prefix: 'Bearer ', ${source}: ${'name' in found ? shortened(found.name, 60) : 'NAME'} }`;
    const advice = advised`The header ${name} was sent with \`${shortened(found.written, 60)}\` as it is written, because a text refers to no variables here. → Write a reference, e.g. ${example}.`;
    return {
      code: 'http-unauthorized',
      path: ['headers', name],
      advice,
    };
  }
  return undefined;
}

function refused(status: number, launch: HttpLaunch): Explanation {
  const unexpanded = status === 401 || status === 403 ? notExpanded(launch) : undefined;
  const known = unexpanded ?? (status === 401 ? unauthorized(launch) : statuses[status]);
  if (known) return known;
  if (status >= 500) return { advice: 'The server failed. → Look at the server’s own log.' };
  const cause = 'The server did not accept the request.';
  return {
    path,
    advice: advised`${cause} → Check url and headers against the server’s documentation.`,
  };
}

function unauthorized({ headers }: HttpLaunch): Explanation {
  const credentials = [...headers].flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
  const sent = [...headers.keys()].join(', ');
  const advice: Advice =
    credentials.length === 0
      ? "The server requires credentials, and none are configured. → Add a header, e.g. headers: { Authorization: { prefix: 'Bearer ', secret: TOKEN } }."
      : advised`The credentials in the headers (${sent}) are wrong or have expired. → ${renewal(credentials)}`;
  return {
    code: 'http-unauthorized',
    path: ['headers'],
    advice,
  };
}

const proxyFails: Explanation = {
  advice:
    'A proxy in front of the server cannot reach it, or the server is down for a while. → Check that the server runs, then restart it here.',
};

const statuses: Readonly<Record<number, Explanation>> = {
  403: {
    code: 'http-unauthorized',
    path: ['headers'],
    advice:
      'The credentials are not allowed to use this server, or the server does not allow this client. → Use credentials with the rights for it, or ask who runs the server.',
  },
  404: {
    code: 'http-not-found',
    path,
    advice:
      'The server runs, but has nothing at this address. → Correct the path in url; MCP endpoints often end in /mcp or /sse.',
  },
  405: {
    path,
    advice:
      'The address accepts no POST and has no event stream, so it is not an MCP endpoint. → Correct url; MCP endpoints often end in /mcp or /sse.',
  },
  407: {
    advice:
      'A proxy in front of the server requires credentials. → Write user and password into the address of the proxy (`http.proxy`), or exempt the server from it (`http.noProxy`).',
  },
  429: { advice: 'The server has received too many requests. → Wait, then restart the server.' },
  502: proxyFails,
  503: proxyFails,
  504: proxyFails,
};

function isTls(code: string): boolean {
  return code in tlsCauses || /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO)/.test(code);
}

/** Under TLS 1.3, the server refuses after the request has gone out. */
function wantsCertificate({ detail }: { readonly detail: string }): Explanation | undefined {
  return /alert (?:certificate required|bad certificate|handshake failure)/i.test(detail)
    ? { code: 'http-tls', path, advice: clientCertificate }
    : undefined;
}

const clientCertificate: Advice =
  'The server refused the encrypted connection, most likely because it wants a certificate of the client, and MCP Toolsets has none. → Let a program on this machine connect with the certificate (e.g. stunnel or nginx), and write its address, such as http://127.0.0.1:8443/mcp, as url.';

function unreachable(reason: Unreachable): Explanation {
  const { code, trust = inSystem } = reason;
  const asked = wantsCertificate(reason);
  if (asked) return asked;
  if (isTls(code)) {
    const known = tlsCauses[code] ?? otherTls;
    return {
      code: 'http-tls',
      path,
      advice: known === selfSigned ? `${selfSigned}${trust}` : known,
    };
  }
  if (/^ERR_INVALID_(CHAR|HTTP_TOKEN)$/.test(code)) {
    const advice: Advice =
      'A header has a character that HTTP does not allow, e.g. a line break. → Correct the header, or the variable that it is copied from.';
    return {
      code: 'http-unreachable',
      path: ['headers'],
      advice,
    };
  }
  const other =
    'The server is not running, or the network does not reach it. → Check url, network and proxy settings.';
  return {
    code: 'http-unreachable',
    path,
    advice: networkCauses[code] ?? other,
  };
}

const selfSigned: Advice =
  'Its certificate is not signed by an authority that this computer trusts. → ';

/** In an editor. */
const inSystem =
  'Add the certificate, or the authority that signed it, to the trusted certificates of the system or to NODE_EXTRA_CA_CERTS.';

const otherTls: Advice =
  'No encrypted connection could be made. → Check the certificate of the server.';

const tlsCauses: Readonly<Record<string, Advice>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: selfSigned,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: selfSigned,
  UNABLE_TO_GET_ISSUER_CERT: selfSigned,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: selfSigned,
  CERT_HAS_EXPIRED:
    'Its certificate has expired, or the clock of this computer is wrong. → Renew the certificate of the server, or correct the clock.',
  CERT_NOT_YET_VALID:
    'Its certificate is not valid yet, or the clock of this computer is wrong. → Correct the clock, or the certificate of the server.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Its certificate is for another host name. → Write the host name of the certificate in url, or correct the certificate.',
  EPROTO:
    'The port does not speak TLS, or speaks another version of it. → Write http:// in url if the server is not encrypted, or correct the port.',
};

const networkCauses: Readonly<Record<string, Advice>> = {
  ECONNREFUSED:
    'Nothing listens there: the server is not running, or the port is wrong. → Start the server, or correct the port in url.',
  ENOTFOUND:
    'The host name does not exist. → Correct the host name in url; check the network, or the VPN if the name is internal.',
  EAI_AGAIN:
    'The host name could not be looked up: there may be no network. → Check the network and the proxy settings, then restart the server.',
  ETIMEDOUT:
    'The host does not answer: it is down, or a firewall blocks the connection. → Check that the server runs and is reachable from here.',
  ECONNRESET:
    'The connection was closed before any answer: a proxy or firewall blocks it, or the port speaks another protocol. → Check scheme and port in url, and the proxy settings.',
};
