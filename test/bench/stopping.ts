/**
 * P7: ending a server by `close()` of its connection: the time, and the processes left when it has
 * resolved. The base is `close()` of the SDK's client, in turn. A mark in their environment
 * identifies the processes of a case in the system's process table.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { largest, median, milliseconds } from './harness/figures.js';
import { Program } from './harness/program.js';
import { holds, limited, type Findings, type Row } from './harness/report.js';
import { marked, type Run } from './harness/run.js';
import { fixture, memory, type ServerCommand } from './harness/servers.js';

interface Case {
  readonly name: string;
  readonly command: ServerCommand;
  /** In milliseconds. */
  readonly limit: number;
}

const honoured = 50;
const worst = 2300;

const inShell = (name: string, ...args: string[]): string => {
  const server = fixture(name, ...args);
  return [server.command, ...server.args].map((word) => `'${word}'`).join(' ');
};

const cases: readonly Case[] = [
  { name: 'honours end of input', command: fixture('plain'), limit: honoured },
  { name: 'server-memory', command: memory, limit: honoured },
  { name: 'ignores end of input', command: fixture('stubborn'), limit: worst },
  { name: 'ignores that and TERM', command: fixture('stubborn', '--term'), limit: worst },
  {
    name: 'exits, its child holds stdio',
    command: fixture('spawns-child', '--hold'),
    limit: worst,
  },
  {
    name: 'its child is in a session of its own',
    command: fixture('spawns-child', '--setsid'),
    limit: worst,
  },
  {
    name: 'its orphan ignores TERM in a session of its own',
    command: fixture('spawns-child', '--setsid', '--term', '--orphan'),
    limit: worst,
  },
  {
    name: 'sh -c "server; true", ignores end of input',
    command: { command: 'sh', args: ['-c', `${inShell('stubborn')}; true`] },
    limit: worst,
  },
  {
    name: 'npx, honours end of input',
    command: { command: 'npx', args: ['--no', 'mcp-server-memory'] },
    limit: honoured,
  },
  {
    name: 'npx -c "server", ignores end of input',
    command: { command: 'npx', args: ['-c', inShell('stubborn')] },
    limit: worst,
  },
];

const variable = 'MCP_TOOLSETS_BENCH_CASE';

interface Stops {
  readonly took: number[];
  readonly left: number[];
}

export async function stopping(run: Run): Promise<Findings> {
  const { guardian } = await run.product();
  const rows: Row[] = [];
  const program = await Program.start(run, 'stopping');
  let turn = 0;
  const stop = async ({ command }: Case, ours: boolean, stops: Stops): Promise<void> => {
    const mark = { name: variable, value: `${run.mark}-${++turn}` };
    stops.took.push(
      await program.ask<number>('stop', { guardian, ours, subject: { ...command, mark } }),
    );
    stops.left.push(await endOfLeft(`${mark.name}=${mark.value}`));
  };
  try {
    await stop(cases[0] as Case, true, { took: [], left: [] });
    await stop(cases[0] as Case, false, { took: [], left: [] });
    for (const each of process.platform === 'win32' ? cases.slice(0, 6) : cases) {
      const ours: Stops = { took: [], left: [] };
      const bare: Stops = { took: [], left: [] };
      for (let round = 0; round < run.count(each.limit === honoured ? 9 : 3, 1); round++) {
        await stop(each, true, ours);
        await stop(each, false, bare);
      }
      const left = largest(ours.left);
      rows.push(
        limited({
          what: each.name,
          ours: milliseconds(median(ours.took)),
          base: milliseconds(median(bare.took)),
          value: median(ours.took),
          limit: each.limit,
          write: milliseconds,
        }),
        {
          ...holds('    left alive', String(left), 'none', left === 0),
          base: String(largest(bare.left)),
        },
      );
    }
  } finally {
    await program.end();
  }
  const told =
    run.leftovers() === undefined ? ['what is left is not looked for on this system'] : [];
  return {
    rule: 'P7',
    title: 'Stopping a server; base: close() of the SDK’s client',
    rows,
    notes: [
      'time of close(); left alive: processes of the server’s tree when it has resolved',
      ...told,
    ],
  };
}

/** Ends the live processes of the case and returns their number. */
async function endOfLeft(mark: string): Promise<number> {
  const left = marked(mark) ?? [];
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Already gone.
    }
  }
  if (left.length > 0) await pause(50);
  return left.length;
}
