/** A record of many days in a home folder, by the real recorder with a clock of its own. */
import type { Clock } from '../../../src/core/base/clock.js';
import { Redactor } from '../../../src/core/base/log.js';
import { Recorder } from '../../../src/core/calls/recorder.js';
import { callFileOf } from '../../../src/core/files/callFile.js';
import { CallFile } from '../../../src/core/files/callWriter.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

const day = 86_400_000;

export interface RecordedDays {
  readonly folder: string;
  readonly home: string;
  readonly toolset: string;
  readonly tools: readonly string[];
  /** The record begins so many days ago, and ends an hour ago. */
  readonly days: number;
  readonly countedAs?: string;
}

/** Records a call of each tool on each day. */
export async function recordDays(of: RecordedDays): Promise<void> {
  const { folder, home, toolset, tools, days, countedAs = '' } = of;
  let now = 0;
  const never = { dispose: () => {} };
  const clock: Clock = { now: () => now, awake: () => now, after: () => never };
  const recorder = new Recorder({ clock, redactor: new Redactor(), isWanted: () => true });
  const fail = (error: unknown): void => {
    throw new Error('the record was not written', { cause: error });
  };
  const record = new CallFile(callFileOf(folder, home), clock, fail, () => countedAs);
  recorder.onDidRecord((lines) => record.note(lines));
  const { signal } = new AbortController();
  for (let ago = days; ago >= 0; ago--) {
    now = Date.now() - ago * day - day / 24;
    for (const tool of tools) {
      const call = { policy: policies.agent, toolset, conversation: 'c', tool, signal };
      const result = { content: [] };
      await recorder.recorded({ ...call, arguments: {} }, () =>
        Promise.resolve({ kind: 'result', result }),
      );
    }
    recorder.flush();
    await record.flush();
  }
  recorder.dispose();
}
