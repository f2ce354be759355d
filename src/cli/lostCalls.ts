/** Records the lost calls of a `connect` in the record of its folder. */
import { homedir } from '../core/base/home.js';
import { systemClock } from '../core/base/clock.js';
import { isCall, lastFacts } from '../core/calls/fact.js';
import { lineOfLost, type LostCall } from '../core/calls/lostCall.js';
import { callFileOf, callLines, mostFacts } from '../core/files/callFile.js';
import { CallFile } from '../core/files/callWriter.js';
import { everyToolset } from '../core/gateway/routes.js';

/** @param toolset the one that the client sees, or undefined for all */
export function lostCallsOf(folder: string, toolset: string | undefined) {
  const file = callFileOf(folder, homedir());
  const record = new CallFile(file, systemClock, undefined);
  let written = Promise.resolve();
  const write = async (call: LostCall): Promise<void> => {
    const lines = await callLines(file).catch(() => []);
    // Of a tool among all toolsets, only the gateway knew the toolset. Earlier calls name it.
    const known = lastFacts(lines, mostFacts)
      .filter(isCall)
      .findLast((fact) => fact.tool === call.tool && fact.toolset === (toolset ?? fact.toolset));
    const { original, toolset: holder } = known ?? { original: call.tool, toolset: everyToolset };
    record.note(lineOfLost(call, { toolset: toolset ?? holder, original }));
    await record.flush();
  };
  return {
    note: (call: LostCall): void => void (written = written.then(() => write(call))),
    settled: (): Promise<void> => written,
  };
}
