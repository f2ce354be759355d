/**
 * P9: the first call of a conversation with a leased server, beside its later ones and beside a
 * cold start.
 */
import { median, milliseconds } from './harness/figures.js';
import { withProgram, type Program } from './harness/program.js';
import { limited, plain, type Findings, type Row } from './harness/report.js';
import type { Run } from './harness/run.js';
import { configText, everything, fixture, type ServerCommand } from './harness/servers.js';

interface Subject {
  readonly name: string;
  readonly command: ServerCommand;
  /** A tool without arguments. */
  readonly tool: string;
  /** Its own first call takes no longer than a later one, so the rule's figure is only ours. */
  readonly isEven: boolean;
}

const subjects: readonly Subject[] = [
  { name: 'synthetic server', command: fixture('raw'), tool: 'pid', isEven: true },
  { name: 'server-everything', command: everything, tool: 'get-tiny-image', isEven: false },
];

export async function spare(run: Run): Promise<Findings> {
  const rows: Row[] = [];
  for (const subject of subjects) await measure(run, subject, rows);
  return {
    rule: 'P9',
    title: 'The first call of a second and later conversation',
    rows,
    notes: [
      'calls past the gateway, in a workspace that has had two conversations; the spare instance is waited for',
      'the first call of server-everything takes longer than its next also where a bare client makes it',
    ],
  };
}

async function measure(
  run: Run,
  { name, command, tool, isEven }: Subject,
  rows: Row[],
): Promise<void> {
  const conversations = run.count(12, 5, 2);
  const first: number[] = [];
  const later: number[] = [];
  const cold: number[] = [];
  const started = <T>(
    more: object,
    use: (call: (conversation: string) => Promise<number>, engine: Program) => Promise<T>,
  ): Promise<T> =>
    withProgram(run, 'engine', {}, async (engine) => {
      const text = configText([{ id: 'subject', ...command, more: { ...more } }]);
      const product = await run.product();
      await engine.ask('start', {
        product,
        text,
        publishing: ['subject'],
        conversations: { subject: 2 },
      });
      return await use(
        (conversation) =>
          engine.ask<number>('timedCall', { toolset: 'subject', tool, conversation }),
        engine,
      );
    });
  await started({}, async (call, engine) => {
    await call('warm');
    for (let index = 0; index < conversations; index++) {
      await engine.ask('untilSpare');
      first.push(await call(`conversation ${index}`));
      for (let again = 0; again < 5; again++) later.push(await call(`conversation ${index}`));
    }
  });
  await started({ spare: 0 }, async (call) => {
    await call('warm');
    for (let index = 0; index < conversations; index++)
      cold.push(await call(`conversation ${index}`));
  });
  const what = `${name}: first call, more than a later call of the conversation`;
  const [ours, base, value] = [
    milliseconds(median(first)),
    milliseconds(median(later)),
    median(first) - median(later),
  ];
  rows.push(
    isEven
      ? limited({ what, ours, base, value, limit: 5, write: milliseconds })
      : plain(what, ours, base, milliseconds(value)),
    plain(
      `${name}: first call; with \`spare: 0\``,
      milliseconds(median(first)),
      milliseconds(median(cold)),
    ),
  );
}
