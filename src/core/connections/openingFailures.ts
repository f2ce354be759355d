/**
 * Says why a server that was reached did not become a connection, on either transport (X3). Everything here is pure.
 */
import type { StartFailure } from './connection.js';
import { errorCodes } from '../protocol/errors.js';
import { shortened } from './jsonRpc.js';

/** @param what the server, as the beginning of a sentence */
export function wrongInitializeAnswer(what: string, detail: string): StartFailure {
  return {
    code: 'server-protocol',
    message: `${what} answered, but its answer to initialize ${detail}.`,
    fix: 'Update the server, or ask its author: the answer does not follow the MCP specification.',
    path: [],
  };
}

export function initializeRefused(
  what: string,
  error: { readonly code: number; readonly message: string },
): StartFailure {
  if (error.code === errorCodes.unsupportedVersion) {
    return {
      code: 'server-protocol',
      message: `${what} speaks another version of the protocol. ${shortened(error.message, 600)}`,
      fix: 'Use a version of the server that speaks one of these, or update this extension.',
      path: [],
    };
  }
  return {
    code: 'server-protocol',
    message: `${what} refused initialize with error ${error.code}: ${shortened(error.message, 300)}`,
    fix: 'Look at the server’s log and documentation for what it needs before it starts.',
    path: [],
  };
}

/** @param reason the message of the `ListError` */
export function listFailed(what: string, reason: string): StartFailure {
  return {
    code: 'list-failed',
    message: `${what} started, but its tools could not be listed. ${reason}`,
    fix: 'Look at the server’s log; restart it, or update it if it happens again.',
    path: [],
  };
}
