/**
 * Says why a server that was reached did not become a connection, on either transport (X3). Everything here is pure.
 */
import type { StartFailure } from './connection.js';
import { errorCodes } from '../protocol/errors.js';
import { shortened } from './jsonRpc.js';

export function wrongInitializeAnswer(detail: string): StartFailure {
  return {
    code: 'server-protocol',
    message: `answered, but its answer to initialize ${detail}.`,
    fix: 'Update the server, or ask its author: the answer does not follow the MCP specification.',
    path: [],
  };
}

export function initializeRefused(error: { readonly code: number; readonly message: string }): StartFailure {
  if (error.code === errorCodes.unsupportedVersion) {
    return {
      code: 'server-protocol',
      message: `speaks another version of the protocol. ${shortened(error.message, 600)}`,
      fix: 'Use a version of the server that speaks one of these, or update this extension.',
      path: [],
    };
  }
  return {
    code: 'server-protocol',
    message: `refused initialize with error ${error.code}: ${shortened(error.message, 300)}`,
    fix: 'Look at the server’s log and documentation for what it needs before it starts.',
    path: [],
  };
}

/** @param reason the message of the `ListError` */
export function listFailed(reason: string): StartFailure {
  return {
    code: 'list-failed',
    message: `started, but its tools could not be listed. ${reason}`,
    fix: 'Look at the server’s log; restart it, or update it if it happens again.',
    path: [],
  };
}
