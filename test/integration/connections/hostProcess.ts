/**
 * A host for guardian.test.ts to kill: starts the servers it is told of, says `ready` with its guardian, and waits.
 *
 *   node --import tsx hostProcess.ts '{"launches": [...], "guardianScript": "..."}'
 */
import { systemClock } from '../../../src/core/base/clock.js';
import { silentLog } from '../../../src/core/base/log.js';
import type { StdioLaunch } from '../../../src/core/config/model.js';
import { createConnector } from '../../../src/core/connections/createConnector.js';

async function main(): Promise<void> {
  const { launches, guardianScript } = JSON.parse(process.argv[2] ?? '') as {
    launches: Pick<StdioLaunch, 'command' | 'args'>[];
    guardianScript: string | undefined;
  };
  const connector = createConnector({
    env: process.env,
    clock: systemClock,
    trace: () => false,
    clientVersion: '0',
    guardianScript,
  });
  const outcomes = await Promise.all(
    launches.map(({ command, args }) =>
      connector.connect({
        server: 'under-test',
        launch: { transport: 'stdio', command, args, cwd: process.cwd(), env: new Map() },
        timeoutMs: 30_000,
        signal: new AbortController().signal,
        log: silentLog,
      }),
    ),
  );
  const failed = outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? [outcome.failure.message] : []));
  process.stdout.write(`${failed.length === 0 ? 'ready' : failed.join(' ').replaceAll('\n', ' ')}\n`);
  process.on('SIGTERM', () => {}); // only SIGKILL ends it, and the message `leave`
  process.on('SIGINT', () => {});
  process.stdin.on('data', (word) => {
    if (String(word).includes('leave')) process.exit(0);
  });
}

void main();
