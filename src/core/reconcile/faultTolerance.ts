/**
 * A connector whose own faults cost one start and nothing else (spec S2): it never rejects for what a server does, so a
 * rejection is an error of this software. It is logged whole, and the person reads that it is one.
 */
import type { Log } from '../base/log.js';
import type { Connector } from '../connections/connector.js';

export function faultTolerant(connector: Connector, log: Log): Connector {
  return {
    connect: async (request) => {
      try {
        return await connector.connect(request);
      } catch (error) {
        log.write(
          'error',
          `${request.server}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
        return {
          kind: 'failed',
          failure: {
            code: 'server-protocol',
            message: `Starting "${request.server}" failed by a fault of MCP Toolsets itself: ${String(error)}.`,
            fix: 'Restart the server; if it happens again, report it with the log of MCP Toolsets.',
            path: [],
          },
        };
      }
    },
    dispose: () => connector.dispose(),
  };
}
