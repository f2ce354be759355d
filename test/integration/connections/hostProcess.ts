/**
 * A host that guardian.test.ts kills. It starts the given servers, prints `ready` and waits.
 *
 *   node --import tsx hostProcess.ts '{"launches": [...], "guardianScript": "...", "untold": false}'
 *
 * `untold` starts the servers without a message to the guardian, as if the host had no time for
 * one.
 */
import { spawn } from 'node:child_process';
import { patientClock } from '../../support/core/within.js';
import { silentLog } from '../../support/fakes/silentLog.js';
import { textsOf } from '../../../src/core/config/launchValues.js';
import type { StdioLaunch } from '../../../src/core/config/model.js';
import { createConnector } from '../../../src/core/connector/createConnector.js';
import { Guardian } from '../../../src/core/processes/guardian.js';
import { markVariable } from '../../../src/core/processes/livingTree.js';

async function main(): Promise<void> {
  process.on('SIGTERM', () => {}); // Only SIGKILL and the message `leave` end it.
  process.on('SIGINT', () => {});
  const { launches, guardianScript, untold } = JSON.parse(process.argv[2] ?? '') as {
    launches: Pick<StdioLaunch, 'command' | 'args'>[];
    guardianScript: string | undefined;
    untold: boolean;
  };
  if (untold) return startUntold(launches, guardianScript);
  const connector = createConnector({
    env: process.env,
    clock: patientClock,
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
  const failed = outcomes.flatMap((outcome) =>
    outcome.kind === 'failed' ? [outcome.failure.message] : [],
  );
  process.stdout.write(
    `${failed.length === 0 ? 'ready' : failed.join(' ').replaceAll('\n', ' ')}\n`,
  );
  process.stdin.on('data', (word) => {
    if (String(word).includes('leave')) process.exit(0);
  });
}

function startUntold(
  launches: readonly Pick<StdioLaunch, 'command' | 'args'>[],
  script: string | undefined,
): void {
  const mark = `${process.pid}-untold.`;
  const guardian = new Guardian({ mark, script, execPath: process.execPath, env: process.env });
  const nobody = 2 ** 31 - 2;
  guardian.add(nobody); // Starts the guardian.
  guardian.release(nobody);
  for (const { command, args } of launches) {
    const env = { ...process.env, [markVariable]: `${mark}1.` };
    spawn(command, textsOf(args), { env, stdio: 'ignore', detached: true });
  }
  process.stdout.write('ready\n');
  setInterval(() => {}, 1000);
}

void main();
